/** What functions of Python's standard library give that hand on or hold what they are called with. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, instanceOf, lookUp, type Scope } from "./expressions.ts";
import { ENTRY, ITERATED, LIST } from "./wrapped.ts";
import type { Readers } from "./walk.ts";

/** A function of the module `from`, or a built-in one, and what it gives: what is made of the elements of the argument `at`, or that argument. */
interface LibraryFunction {
  is: "list" | "entries" | "element" | "argument" | "type";
  at?: number;
  from?: string;
}

const RESULTS = new Map<string, LibraryFunction>([
  ["list", { is: "list" }],
  ["tuple", { is: "list" }],
  ["set", { is: "list" }],
  ["frozenset", { is: "list" }],
  ["sorted", { is: "list" }],
  ["reversed", { is: "list" }],
  ["iter", { is: "list" }],
  ["deque", { is: "list", from: "collections" }],
  ["filter", { is: "list", at: 1 }],
  ["enumerate", { is: "entries" }],
  ["next", { is: "element" }],
  ["max", { is: "element" }],
  ["min", { is: "element" }],
  ["cast", { is: "type", from: "typing" }],
  ["copy", { is: "argument", from: "copy" }],
  ["deepcopy", { is: "argument", from: "copy" }],
]);

const isNamed = ({ type }: SyntaxNode): boolean => type === "keyword_argument";

/** The result of a call of such a function; undefined for other calls. */
export function givenByLibrary(call: SyntaxNode, scope: Scope, read: Readers): Expression | undefined {
  const called = call.field("function");
  if (!called) return undefined;
  const name = called.type === "attribute" ? called.field("attribute")?.text : called.text;
  const result = RESULTS.get(name ?? "");
  const given = call.field("arguments")?.namedChildren.filter((each) => !isNamed(each)) ?? [];
  const argument = given[result?.at ?? 0];
  if (!result || !argument || !isOfLibrary(called, result.from, scope)) return undefined;
  // Of several arguments it is the largest or smallest itself.
  if (/^(?:max|min)$/.test(name ?? "") && given.length > 1) return undefined;
  if (result.is === "type") return instanceOf(read.type(argument));
  const of = read.value(argument);
  if (of.is === "unknown" || result.is === "argument") return of;
  const element: Expression = { is: "member", of, name: ITERATED };
  if (result.is === "element") return element;
  return { is: "member", of: result.is === "list" ? element : { is: "member", of: element, name: ENTRY }, name: LIST };
}

/** Whether a name is the built-in one, or that of a module. */
function isOfLibrary(called: SyntaxNode, from: string | undefined, scope: Scope): boolean {
  if (called.type === "attribute") return called.field("object")?.text === from;
  const binding = lookUp(scope, called.text);
  return from === undefined ? !binding : binding?.is === "import" && binding.module === from;
}
