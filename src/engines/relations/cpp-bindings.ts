/** Variables of C++, and what they are bound to. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Around, expressionOf, nameOf, typeOf } from "./cpp-expressions.ts";
import { handedByCppLibrary } from "./cpp-library.ts";
import { declared } from "./declarators.ts";
import { type Expression, type Scope, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import type { Place as BasePlace } from "./walk.ts";
import { LIST, SECOND_PLACE } from "./wrapped.ts";

interface Place extends BasePlace, Around {
  /** Names here are those of the file only. */
  isHidden: boolean;
}

/** Whether a scope is inside a function or template, so that its declarations are local. */
export const isInBlock = (scope: Scope): boolean => scope.outer?.outer !== undefined;

/** The full name of what is in a namespace or class. */
export const within = (context: string, name: string): string => (context === "" ? name : `${context}::${name}`);

/** Lets other files see a name that is bound under its full path. */
export const share = (key: string, file: FileBuilder): void =>
  file.exportAs(key, { is: "name", name: key, scope: file.top });

/** What an algorithm hands to a lambda as one of its parameters. */
export function handedTo(lambda: SyntaxNode, parameter: SyntaxNode, place: Place): Expression | undefined {
  const position = parameter.parent?.namedChildren.findIndex(({ id }) => id === parameter.id) ?? -1;
  return handedByCppLibrary(lambda, position, (of) => expressionOf(of, place));
}

/** Binds a variable of a block; one outside of blocks is a name of the program. `given`: what a loop or call gives to it. */
export function bindVariable(
  node: SyntaxNode | undefined,
  type: SyntaxNode | undefined,
  value: SyntaxNode | undefined,
  place: Place,
  given?: Expression,
): void {
  const { file, scope, context } = place;
  const found = declared(node);
  const name = nameOf(found?.name);
  if (!found || name === undefined) {
    if (node) bindStructured(node, given ?? expressionOf(value, place), place);
    return;
  }
  const own = found.function || (found.isArray && isDeduced(type)) ? {} : knownOf(found, type, value, place, given);
  if (!isInBlock(scope)) {
    const key = within(context, name);
    if (file.top.names.has(key)) return;
    file.bind(file.top, key, { is: "variable", line: found.name.row + 1, ...own });
    if (!place.isHidden) share(key, file);
  } else if ("alias" in own && own.alias) file.bind(scope, name, { is: "alias", of: own.alias });
  else file.bind(scope, name, { is: "variable", ...own });
}

/** Binds the names of `auto [key, value]`: of an entry the second is the value. */
function bindStructured(node: SyntaxNode, of: Expression, { file, scope }: Place): void {
  const list = structuredIn(node);
  if (!list || !isInBlock(scope)) return;
  for (const [at, name] of list.namedChildren.entries()) {
    const value: Expression = at === 1 && of.is !== "unknown" ? { is: "member", of, name: SECOND_PLACE } : UNKNOWN;
    file.bind(scope, name.text, { is: "variable", value });
  }
}

/** The names of `[a, b]` or `&[a, b]`. */
export const structuredIn = (node: SyntaxNode): SyntaxNode | undefined =>
  node.type === "structured_binding_declarator" ? node : node.childOfType("structured_binding_declarator");

const isDeduced = (type: SyntaxNode | undefined): boolean => !type || type.type === "placeholder_type_specifier";

/** Of `auto`, what the value is, or what is given to it. */
function knownOf(
  found: ReturnType<typeof declared>,
  type: SyntaxNode | undefined,
  value: SyntaxNode | undefined,
  place: Place,
  given: Expression | undefined,
): { type?: Expression; value?: Expression; alias?: Expression } {
  if (!isDeduced(type)) return { type: typeOfDeclared(found, type, place) };
  const of = given ?? expressionOf(value, place);
  if (of.is === "unknown") return {};
  return of.is === "call" || of.is === "choice" ? { value: of } : { alias: of };
}

/** The type of what is declared: an array holds values of the type that is written. */
export function typeOfDeclared(
  found: ReturnType<typeof declared>,
  type: SyntaxNode | undefined,
  place: Place,
): Expression {
  const of = typeOf(type, place);
  return found?.isArray && of.is !== "unknown" ? { is: "member", of, name: LIST } : of;
}
