/** Type parameters and parameters of Rust, and what functions hand to closures. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { givenOr, handedFrom, type Scope, UNKNOWN } from "./expressions.ts";
import { calledOf, pathParts, typeArguments, typeOf, withoutMarkers } from "./rust-expressions.ts";
import { bindPattern, type Known, ofType } from "./rust-patterns.ts";
import { MAX_PARAMETERS } from "./types.ts";
import { argumentAt, type Place } from "./walk.ts";

/** Which parameter of which type has a name. */
interface Parameters {
  owner: string;
  names: readonly string[];
}

const PARAMETER = /^(?:type_parameter|type_identifier|constrained_type_parameter|optional_type_parameter)$/;

const parametersOf = (node: SyntaxNode): SyntaxNode[] =>
  (node.field("type_parameters")?.namedChildren ?? []).filter(({ type }) => PARAMETER.test(type));

/** The type parameters of a type that is declared. */
export const ownParameters = (node: SyntaxNode, owner: string): Parameters => ({
  owner,
  names: parametersOf(node).map((each) => (each.field("name") ?? each).text),
});

/** The type parameters that `impl<T> Owner<T>` gives to a type. */
export const givenParameters = (type: SyntaxNode, owner: string): Parameters => ({
  owner,
  names: typeArguments(type).map(({ text }) => text),
});

/** Binds type parameters: one with a single bound is used as that trait, whatever traits of the standard library it has besides. */
export function typeParameters(node: SyntaxNode, { file, scope }: Place, of?: Parameters): void {
  for (const each of parametersOf(node)) {
    const name = (each.field("name") ?? each).text;
    const [only, ...others] = withoutMarkers(
      boundsOf(each, node).filter(({ type }) => /identifier$|^generic_type$/.test(type)),
    );
    const bound = only && others.length === 0 ? typeOf(only, scope) : undefined;
    const at = of?.names.indexOf(name) ?? -1;
    if (of && at >= 0) file.bind(scope, name, { is: "alias", of: givenOr(of.owner, at, bound ?? UNKNOWN) });
    else file.bind(scope, name, bound ? { is: "alias", of: bound } : { is: "variable" });
  }
}

/** The bounds of a type parameter, in its own place or behind `where`; none if they are in both. */
function boundsOf(parameter: SyntaxNode, node: SyntaxNode): SyntaxNode[] {
  const name = (parameter.field("name") ?? parameter).text;
  const where = node.childOfType("where_clause")?.namedChildren ?? [];
  const later = where.find((predicate) => predicate.field("left")?.text === name)?.field("bounds");
  const own = parameter.field("bounds");
  return own && later ? [] : ((own ?? later)?.namedChildren ?? []);
}

export function parameter(node: SyntaxNode, place: Place, known?: Known): void {
  if (node.type !== "parameter") {
    bindPattern(node, known, place);
    return;
  }
  const type = node.field("type");
  bindPattern(node.field("pattern"), type && ofType(type, place.scope), place);
}

/** Records what a function hands to the closures that it is called with. */
export function handsToClosures(node: SyntaxNode, line: number, { file, scope }: Place): void {
  const parameters = (node.field("parameters")?.namedChildren ?? []).filter(({ type }) => type === "parameter");
  for (const [outer, each] of parameters.slice(0, MAX_PARAMETERS).entries()) {
    const taken = functionType(each.field("type"), node)?.field("parameters")?.namedChildren ?? [];
    for (const [inner, type] of taken.slice(0, MAX_PARAMETERS).entries())
      file.hands(line, typeOf(type, scope), outer, inner);
  }
}

const BOUND = /^(?:function|dynamic|abstract)_type$/;

/** `Fn(A) -> B`, behind `impl`, `&dyn` or `Box<dyn …>`, or as the bound of a type parameter. */
function functionType(type: SyntaxNode | undefined, around: SyntaxNode): SyntaxNode | undefined {
  let at = type;
  for (let depth = 0; at && at.type !== "function_type" && depth < MAX_PARAMETERS; depth++) {
    const name: string = at.text;
    const parameter =
      at.type === "type_identifier"
        ? parametersOf(around).find((each) => (each.field("name") ?? each).text === name)
        : undefined;
    if (parameter) at = boundsOf(parameter, around).find((bound) => bound.type === "function_type");
    else if (at.type === "generic_type" && /^(?:Box|Arc|Rc)$/.test(pathParts(at)?.at(-1) ?? ""))
      [at] = typeArguments(at);
    else at = at.field("trait") ?? at.field("type") ?? at.namedChildren.find(({ type: own }) => BOUND.test(own));
  }
  return at?.field("trait") ? at : undefined;
}

/** What a closure that is an argument of a call gets as a parameter. */
export function handedTo(closure: SyntaxNode, parameter: number, scope: Scope): Known | undefined {
  const list = closure.parent;
  const called = list?.type === "arguments" ? list.parent?.field("function") : undefined;
  const outer = list && called && argumentAt(list, closure);
  const of = called && outer !== undefined ? handedFrom(calledOf(called, scope), outer, parameter) : undefined;
  return of && { of };
}
