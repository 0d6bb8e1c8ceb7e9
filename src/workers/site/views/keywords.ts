/** Keywords of languages, for highlighting: what a language's own specification reserves, and its names of primitive types. */

/** Of nearly all languages with braces. */
const SHARED =
  "break case catch class const continue default do else enum extends false finally for if import in interface new null private protected public return static super switch this throw true try while";
const C =
  "auto bool break case char const continue default do double else enum extern false float for goto if inline int long nullptr NULL return short signed sizeof static struct switch true typedef union unsigned void volatile while";
const SCRIPT =
  `${SHARED} abstract any as async await bigint boolean constructor debugger declare delete export from function get implements instanceof is keyof let namespace never number of override readonly satisfies set string symbol type typeof ` +
  "undefined unknown var void with yield";

const BY_LANGUAGE = new Map(
  Object.entries({
    bash: "case do done elif else esac export fi for function if in local return select then until while",
    c: C,
    clojure: "def defn defmacro do false fn if let loop nil ns recur true when",
    cpp:
      `${C} and catch class co_await co_return co_yield concept consteval constexpr constinit decltype delete explicit final friend mutable namespace new noexcept not operator or override private protected public ` +
      "requires static_assert template this throw try typename using virtual",
    csharp:
      `${SHARED} abstract as async await base bool byte char checked decimal delegate double event explicit extern fixed float foreach get goto implicit init int internal is lock long namespace nameof object operator out override ` +
      "params readonly record ref required sbyte sealed set short sizeof stackalloc string struct typeof uint ulong unsafe ushort using var virtual void volatile where yield",
    dart:
      `${SHARED} abstract as assert async await bool covariant double dynamic export extension external factory final get implements int is late library mixin num on operator part required rethrow sealed set String sync typedef ` +
      "var void with yield",
    elixir:
      "after alias and case catch cond def defdelegate defguard defimpl defmacro defmodule defp defprotocol defstruct do else end false fn for if import in nil not or quote raise receive require rescue true try unless unquote use when with",
    go: "any bool break byte case chan const continue default defer else error fallthrough false float32 float64 for func go goto if import int int32 int64 interface map nil package range return rune select string struct switch true type uint uint32 uint64 var",
    haskell:
      "case class data deriving do else forall if import in infix instance let module newtype of then type where",
    java: `${SHARED} abstract assert boolean byte char double final float goto implements instanceof int long native package permits record sealed short strictfp synchronized throws transient var void volatile yield`,
    javascript: SCRIPT,
    kotlin:
      "abstract actual as break by catch class companion const constructor continue crossinline data do else enum expect false final finally for fun if import in infix init inline inner interface internal is lateinit noinline null " +
      "object open operator override package private protected public reified return sealed super suspend tailrec this throw true try typealias val var vararg when where while",
    lua: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
    perl: "and cmp do else elsif eq for foreach if last local my ne next no not or our package redo return sub unless until use while",
    php: `${SHARED} abstract and array as bool callable clone declare echo elseif empty endfor endforeach endif endwhile final float fn foreach function global implements include include_once instanceof int isset iterable match mixed namespace or readonly require require_once string trait unset use var void xor yield`,
    python:
      "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
    r: "break else FALSE for function if in next NULL repeat TRUE while",
    ruby: "alias and begin break case class def do else elsif end ensure false for if in module next nil not or raise redo require rescue retry return self super then true undef unless until when while yield",
    rust:
      "as async await bool break char const continue crate dyn else enum extern f32 f64 false fn for i8 i16 i32 i64 i128 if impl in isize let loop match mod move mut pub ref return self Self static str struct super trait true type u8 " +
      "u16 u32 u64 u128 union unsafe use usize where while",
    scala:
      "abstract case catch class def do else enum export extends extension false final finally for given if implicit import in lazy match new null object override package private protected return sealed super then this throw trait " +
      "true try type using val var while with yield",
    sql:
      "add all alter and as asc begin between by cascade case check column commit constraint create cross default delete desc distinct drop else end except exists false foreign from full function group having if in index inner insert " +
      "intersect into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then true union unique update using values view when where with",
    swift:
      "actor any as associatedtype async await break case catch class continue convenience default defer deinit didSet do else enum extension fallthrough false fileprivate final for func get guard if import in indirect init inout " +
      "internal is lazy let mutating nil open operator override private protocol public repeat required rethrows return self Self set some static struct subscript super switch throw throws true try typealias unowned var weak where while willSet",
    zig: "and anyerror bool break catch comptime const continue defer else enum errdefer error export extern false fn for if inline null or orelse packed pub return struct switch test true try undefined union unreachable usize var void while",
  }),
);

const ALIASES = new Map([
  ...["astro", "svelte", "tsx", "typescript", "vue"].map((name): [string, string] => [name, "javascript"]),
  ["starlark", "python"],
]);

/** Keywords of a language; those that most languages share if its own are not known. */
export function keywordsOf(language: string): ReadonlySet<string> {
  const words = BY_LANGUAGE.get(ALIASES.get(language) ?? language) ?? SHARED;
  return new Set(words.split(" "));
}
