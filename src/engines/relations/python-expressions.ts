/** Expressions and types of Python, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { alternativesOf, type Narrowed, narrowedBy } from "./choices.ts";
import { type Expression, NOTHING, type Scope, stepInto, UNKNOWN, withArguments } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { givenByLibrary } from "./python-library.ts";
import { ELEMENT, ITERATED, LIST, MAP } from "./wrapped.ts";

/** The bound of `TypeVar("T", bound=…)`; undefined for other values. */
export function boundOf(value: SyntaxNode | undefined, scope: Scope): Expression | undefined {
  if (value?.type !== "call" || !/^(?:\w+\.)?TypeVar$/.test(value.field("function")?.text ?? "")) return undefined;
  const given = value.field("arguments")?.namedChildren.find((each) => each.field("name")?.text === "bound");
  const bound = given?.field("value");
  return bound && typeOf(bound, scope);
}

export function expressionOf(node: SyntaxNode, scope: Scope, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "identifier":
      return { is: "name", name: node.text, scope };
    case "attribute": {
      const [object, name] = [node.field("object"), node.field("attribute")];
      return object && name ? { is: "member", of: expressionOf(object, scope, depth + 1), name: name.text } : UNKNOWN;
    }
    case "call": {
      const called = node.field("function");
      if (called?.text === "super") return scope.own ? { is: "base", of: scope.own } : UNKNOWN;
      const given = givenByLibrary(node, scope, {
        value: (each) => expressionOf(each, scope, depth + 1),
        type: (each) => typeOf(each, scope, depth + 1),
      });
      return given ?? (called ? { is: "call", of: expressionOf(called, scope, depth + 1) } : UNKNOWN);
    }
    case "subscript": {
      const value = node.field("value");
      const of = value ? expressionOf(value, scope, depth + 1) : UNKNOWN;
      if (node.field("subscript")?.type === "slice") return of;
      return stepInto(of, ELEMENT);
    }
    case "list":
    case "set":
    case "tuple":
      return listOf(node.namedChildren, scope, depth);
    case "list_comprehension":
    case "set_comprehension":
    case "generator_expression":
      return chosenIn(node, scope, depth) ?? listOf(node.fields("body"), scope, depth);
    case "dictionary":
    case "dictionary_comprehension": {
      const values = node.namedChildren.flatMap((each) => (each.type === "pair" ? (each.field("value") ?? []) : []));
      return stepInto(commonValue(values, scope, depth), MAP);
    }
    case "named_expression": {
      const value = node.field("value");
      return value ? expressionOf(value, scope, depth + 1) : UNKNOWN;
    }
    case "await":
    case "parenthesized_expression": {
      const inner = node.namedChild(0);
      return inner ? expressionOf(inner, scope, depth + 1) : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}

/** A declared type: `T`, `m.T`, `T | None`, `Optional[T]`, `list[T]`, `dict[K, T]`, `"T"`. */
export function typeOf(node: SyntaxNode, scope: Scope, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  const inner = node.type === "type" ? node.namedChild(0) : node;
  if (!inner) return UNKNOWN;
  if (scope.own && SELF_TYPE.test(inner.text.slice(0, MAX_SELF_TYPE))) return { is: "class", line: scope.own.line };
  if (inner.type === "identifier" || inner.type === "attribute") return expressionOf(inner, scope);
  if (inner.type === "generic_type" || inner.type === "subscript") {
    const base = inner.field("value") ?? inner.namedChild(0);
    const given =
      inner.type === "subscript"
        ? inner.fields("subscript")
        : (inner.childOfType("type_parameter")?.namedChildren ?? []);
    const name = (base?.text ?? "").replace(/^(?:typing|t|te|typing_extensions|collections\.abc|abc|cabc)\./, "");
    if (name === "Union") {
      const [only, ...others] = given.filter(({ text }) => text !== "None");
      return only && others.length === 0 ? typeOf(only, scope, depth + 1) : UNKNOWN;
    }
    const wrapping = WRAPPINGS.find(([names]) => names.test(name));
    const argument = given[wrapping?.[2] ?? 0];
    if (!wrapping && base && argument) return genericType(base, given, scope, depth);
    if (!wrapping || !argument || (/^[tT]uple$/.test(name) && !isOfOneType(given))) return UNKNOWN;
    const of = typeOf(argument, scope, depth + 1);
    return of.is === "unknown" || wrapping[1] === undefined ? of : { is: "member", of, name: wrapping[1] };
  }
  if (inner.type === "binary_operator") {
    const [left, right] = [inner.field("left"), inner.field("right")];
    const only = right?.type === "none" ? left : left?.type === "none" ? right : undefined;
    return only ? typeOf(only, scope, depth + 1) : UNKNOWN;
  }
  const text = inner.text.slice(0, 200);
  const [, name] = /^(?:Optional\[)?["']?([\p{L}_][\p{L}\p{N}_]*)["']?(?:\]|\s*\|\s*None)?["']?$/u.exec(text) ?? [];
  return name === undefined ? UNKNOWN : { is: "name", name, scope };
}

/** A generic type of the repository: `Box[T]`. */
function genericType(base: SyntaxNode, given: readonly SyntaxNode[], scope: Scope, depth: number): Expression {
  const types = given.map((each) => typeOf(each, scope, depth + 1));
  const of = withArguments(expressionOf(base, scope, depth + 1), types);
  return of.is === "generic" ? of : UNKNOWN;
}

/** Whether the elements of a tuple have one type: `tuple[T, ...]`, `tuple[T, T]`. */
const isOfOneType = ([first, ...others]: readonly SyntaxNode[]): boolean =>
  others.every(({ text }) => text === "..." || text === first?.text);

/** `Self`, also in quotes or of a module: the class around. */
const SELF_TYPE = /^["']?(?:\w+\.)?Self["']?$/;
const MAX_SELF_TYPE = 40;

/** Generic types of the standard library: how they hold their argument, and which one. A class itself is not told from its instances. */
const WRAPPINGS: readonly (readonly [RegExp, string | undefined, number])[] = [
  [/^(?:Optional|Annotated|Final|ClassVar|Type|type|Required|NotRequired|Awaitable)$/, undefined, 0],
  [
    /^(?:list|List|set|Set|frozenset|FrozenSet|tuple|Tuple|deque|Deque|Sequence|MutableSequence|Iterable|Iterator|AsyncIterator|AsyncIterable|Collection|Generator|AsyncGenerator|AbstractSet)$/,
    LIST,
    0,
  ],
  [/^(?:dict|Dict|Mapping|MutableMapping|defaultdict|DefaultDict|OrderedDict|WeakValueDictionary|ChainMap)$/, MAP, 1],
];

/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 8;

/** The elements of another value that a comprehension keeps: `[x for x in values if x.open]`; undefined for other ones. */
function chosenIn(node: SyntaxNode, scope: Scope, depth: number): Expression | undefined {
  const loops = node.namedChildren.filter(({ type }) => type === "for_in_clause");
  const [loop] = loops;
  const over = loop?.field("right");
  if (loops.length !== 1 || !over || loop?.field("left")?.text !== node.field("body")?.text) return undefined;
  const of = expressionOf(over, scope, depth + 1);
  return of.is === "unknown" ? UNKNOWN : { is: "member", of: { is: "member", of, name: ITERATED }, name: LIST };
}

/** A list of what one class or function gives: `[A(1), A(2)]`. */
function listOf(elements: readonly SyntaxNode[], scope: Scope, depth: number): Expression {
  return stepInto(commonValue(elements, scope, depth), LIST);
}

/** What one class or function gives that all of some values are calls of. */
function commonValue(elements: readonly SyntaxNode[], scope: Scope, depth: number): Expression {
  const [first, ...others] = elements.slice(0, MAX_ELEMENTS);
  const calledIn = (node: SyntaxNode): string | undefined =>
    node.type === "call" ? node.field("function")?.text : undefined;
  const called = first && calledIn(first);
  if (called === undefined || others.some((other) => calledIn(other) !== called)) return UNKNOWN;
  return expressionOf(first as SyntaxNode, scope, depth + 1);
}

/** The values that an expression may give: two in `a if c else b` and `a or b`. */
export const givenBy = (node: SyntaxNode): SyntaxNode[] =>
  alternativesOf(node, (each) => {
    if (each.type === "conditional_expression") return [each.namedChild(0), each.namedChild(2)];
    return operands(each, "or");
  });

/** What a function returns, as values. What is made of `self` or `cls` is of the class of a receiver. */
export const resultsOf = (node: SyntaxNode, scope: Scope): Expression[] =>
  givenBy(node).map((each) => {
    if (each.type === "none") return NOTHING;
    const of = expressionOf(each, scope);
    const made = each.type === "call" ? each.field("function") : each;
    return made && OF_RECEIVER.test(made.text.slice(0, MAX_SELF_TYPE)) ? { is: "likely", of } : of;
  });

const OF_RECEIVER = /^(?:self|cls|self\.__class__|type\(self\))$/;

/** The types that a condition states of names: `isinstance(a, A) and …`. */
export const narrowed = (condition: SyntaxNode | undefined, scope: Scope): Narrowed[] =>
  narrowedBy(condition, { conjunction: (each) => operands(each, "and"), test: (each) => instanceTest(each, scope) });

const operands = (node: SyntaxNode, operator: "and" | "or"): (SyntaxNode | undefined)[] | undefined =>
  node.type === "boolean_operator" && node.field("operator")?.text === operator
    ? [node.field("left"), node.field("right")]
    : undefined;

function instanceTest(node: SyntaxNode, scope: Scope): Narrowed | undefined {
  if (node.type !== "call" || node.field("function")?.text !== "isinstance") return undefined;
  const [name, type] = node.field("arguments")?.namedChildren ?? [];
  if (name?.type !== "identifier" || !type || !/^(?:identifier|attribute)$/.test(type.type)) return undefined;
  return [name.text, expressionOf(type, scope)];
}
