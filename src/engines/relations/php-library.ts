/** Functions of PHP that hold other values, hand them on, or hand them to callbacks. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { wordSet } from "../../lib/word-set.ts";
import { type Expression, oneOfValues, stepInto, UNKNOWN } from "./expressions.ts";
import { ELEMENT, FUNCTION, LIST } from "./wrapped.ts";

const ELEMENTS = wordSet("array_pop array_shift current end max min next prev reset");
/** Functions that give their first argument, or some of its elements. */
const SAME = wordSet(
  `array_diff array_diff_key array_filter array_intersect array_intersect_key array_merge array_pad array_replace array_reverse array_slice array_splice
   array_udiff array_unique array_values collect iterator_to_array`,
);
/** Position of the argument that all elements are. */
const FILLING = new Map([
  ["array_fill", 2],
  ["array_fill_keys", 1],
]);

/** The value of an argument or element; undefined where it is spread. */
export const valueIn = (node: SyntaxNode | undefined): SyntaxNode | undefined => {
  const value = node?.namedChildren.at(-1);
  return value?.type === "variadic_unpacking" ? undefined : value;
};

/** What a call of a function of the library gives; undefined for other calls. `read` gives the value of a node. */
export function givenByLibrary(
  name: string,
  args: readonly SyntaxNode[],
  read: (node: SyntaxNode | undefined) => Expression,
): Expression | undefined {
  const value = (at: number): Expression => read(valueIn(args[at]));
  if (ELEMENTS.has(name)) return args.length === 1 ? stepInto(value(0), ELEMENT) : undefined;
  if (SAME.has(name)) return value(0);
  const filling = FILLING.get(name);
  if (filling !== undefined) return stepInto(value(filling), LIST);
  // The keys come first.
  if (name === "array_combine") return value(1);
  if (name !== "array_map") return undefined;
  const made = value(0);
  return made.is === "member" && made.name === FUNCTION ? stepInto(made.of, LIST) : UNKNOWN;
}

/** Elements that are compared. */
const MAX_ELEMENTS = 8;

/** A list of what the elements of an array are; unknown where some are spread. */
export function arrayOf(node: SyntaxNode, read: (node: SyntaxNode | undefined) => Expression): Expression {
  const elements = node.namedChildren.filter(({ type }) => type === "array_element_initializer").slice(0, MAX_ELEMENTS);
  const values = elements.map((each) => read(valueIn(each)));
  return values.length === 0 || values.some((each) => each.is === "unknown")
    ? UNKNOWN
    : stepInto(oneOfValues(values), LIST);
}

/** Functions with a callback: positions of it and of the array, and of the parameters that get elements. */
const CALLBACKS: ReadonlyMap<string, readonly [callback: number, array: number, parameters: readonly number[]]> =
  new Map(
    Object.entries({
      array_map: [0, 1, [0]],
      array_filter: [1, 0, [0]],
      array_walk: [1, 0, [0]],
      array_reduce: [1, 0, [1]],
      usort: [1, 0, [0, 1]],
      uasort: [1, 0, [0, 1]],
      array_any: [1, 0, [0]],
      array_all: [1, 0, [0]],
      array_find: [1, 0, [0]],
    } satisfies Record<string, [number, number, number[]]>),
  );

/** What such a function hands to the parameter `at` of its callback, the argument `outer`; undefined for other functions. */
export function handedByLibrary(
  name: string,
  args: readonly SyntaxNode[],
  [outer, at]: readonly [outer: number, at: number],
  read: (node: SyntaxNode | undefined) => Expression,
): Expression | undefined {
  const [callback, array, parameters] = CALLBACKS.get(name) ?? [-1, 0, []];
  return callback === outer && parameters.includes(at) ? stepInto(read(valueIn(args[array])), ELEMENT) : undefined;
}

/** Methods and functions of containers of services that give an object of the class whose name they are called with. */
const GIVE_OBJECT = wordSet("app createMock createStub get getMock instance make mock resolve spy");

/** The class whose object such a call usually gives: `$container->get(Foo::class)`. */
export function classAsked(name: string, args: readonly SyntaxNode[]): SyntaxNode | undefined {
  const value = GIVE_OBJECT.has(name) ? valueIn(args[0]) : undefined;
  const isClass = value?.type === "class_constant_access_expression" && value.namedChildren.at(-1)?.text === "class";
  return isClass ? value.namedChild(0) : undefined;
}
