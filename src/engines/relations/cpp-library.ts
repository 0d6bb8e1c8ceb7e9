/** What types of C++'s standard library hold, and what its functions make of their arguments. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { wordSet } from "../../lib/word-set.ts";
import { type Expression, instanceOf, UNKNOWN } from "./expressions.ts";
import type { Readers } from "./walk.ts";
import { ENTRY, holderIn, type Holders, LIST, MAP, SMART, TARGET } from "./wrapped.ts";

/** Templates that hold values of one of their arguments: what they are around it, and which argument that is. */
const HOLDERS: Holders = [
  // What is inside of them is behind `->` or got by a method.
  [
    wordSet(
      `unique_ptr shared_ptr weak_ptr optional expected reference_wrapper atomic scoped_ptr scoped_refptr intrusive_ptr StatusOr
       QPointer QSharedPointer QScopedPointer`,
    ),
    SMART,
    0,
  ],
  [
    wordSet(
      `vector list forward_list deque set unordered_set multiset unordered_multiset array span queue stack priority_queue
       initializer_list QList QVector`,
    ),
    LIST,
    0,
  ],
  [wordSet("map unordered_map multimap unordered_multimap flat_hash_map QMap QHash"), MAP, 1],
  [wordSet("pair"), ENTRY, 1],
];

/** What a template of the standard library is around one of its arguments, and the position of that. */
export const cppHolder = (name: string): ReturnType<typeof holderIn> => holderIn(HOLDERS, name);

/** Functions that make a pointer to the type that they are given, or a value of it. */
const MAKE_POINTER = /^(?:make_(?:unique|shared)|(?:static|dynamic|const|reinterpret)_pointer_cast)$/;
const CAST = /^(?:static|dynamic|const|reinterpret|any|bit)_cast$/;
/** Functions that give what they are called with, or an iterator next to it. */
const SAME = /^(?:move|forward|as_const|next|prev|exchange)$/;
/** Functions on a range that give an iterator of it. */
const ALGORITHMS =
  /^(?:find|find_if|find_if_not|max_element|min_element|lower_bound|upper_bound|partition_point|remove_if|adjacent_find|search)$/;

/** What a call of a function of the standard library gives; undefined for other calls. */
export function givenByCppLibrary(call: SyntaxNode, read: Readers): Expression | undefined {
  const called = call.field("function");
  const bare = called?.type === "qualified_identifier" ? called.field("name") : called;
  const isOfLibrary = called?.type === "qualified_identifier" && called.field("scope")?.text === "std";
  const name = (bare?.type === "template_function" ? bare.field("name") : bare)?.text ?? "";
  const [first, second] = call.field("arguments")?.namedChildren ?? [];
  const given = bare?.type === "template_function" ? bare.field("arguments")?.namedChild(0) : undefined;
  if (given && MAKE_POINTER.test(name)) return { is: "member", of: read.type(given), name: SMART };
  if (given && CAST.test(name)) {
    return instanceOf(read.type(given));
  }
  if (!isOfLibrary || !first) return undefined;
  // Where the algorithm takes iterators, it gives one.
  if (SAME.test(name) || (second && ALGORITHMS.test(name))) return read.value(first);
  return /^c?ref$/.test(name) ? { is: "member", of: read.value(first), name: SMART } : undefined;
}

/** Algorithms whose function gets an element, or two of them. */
const OF_ELEMENTS =
  /^(?:for_each|find_if(?:_not)?|(?:any|all|none)_of|count_if|(?:remove|copy|replace)_if|(?:stable_)?partition|transform)$/;
const OF_TWO = /^(?:sort|stable_sort|max_element|min_element|unique|is_sorted|nth_element|partial_sort)$/;

/** What an algorithm on iterators hands to a lambda, as the parameter at a position; undefined for other functions. */
export function handedByCppLibrary(
  lambda: SyntaxNode,
  position: number,
  value: Readers["value"],
): Expression | undefined {
  const list = lambda.parent;
  const called = list?.type === "argument_list" ? list.parent?.field("function") : undefined;
  const name = called?.text.replace(/^std::/, "").slice(0, MAX_NAME) ?? "";
  const [begin, end] = list?.namedChildren ?? [];
  if (!begin || !end || end.id === lambda.id) return undefined;
  const isElement = OF_TWO.test(name) ? position < 2 : OF_ELEMENTS.test(name) && position === 0;
  const of = isElement ? value(begin) : UNKNOWN;
  return of.is === "unknown" ? undefined : { is: "member", of, name: TARGET };
}
const MAX_NAME = 40;
