/** What the variables of PHP are bound to by assignments, loops, patterns, closures and conditions. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Narrowed, narrowedBy } from "./choices.ts";
import { type Expression, handedFrom, stepInto, UNKNOWN } from "./expressions.ts";
import { argumentsOf, calledIn, expressionOf, isName, named, type Place, propertyKey } from "./php-expressions.ts";
import { handedByLibrary, valueIn } from "./php-library.ts";
import { typeOf } from "./php-types.ts";

import { ELEMENT, ITERATED } from "./wrapped.ts";

/** Binds the variables that a statement or expression gives values. */
export function bindVariables(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  switch (node.type) {
    case "assignment_expression": {
      const [left, right] = [node.field("left"), node.field("right")];
      if (!left || !right || right.type === "null") return;
      const value = expressionOf(right, place);
      if (left.type === "variable_name") bindValue(left.text, value, place);
      else if (left.type.endsWith("member_access_expression")) propertyAssignment(left, value, place);
      else destructured(left, value, right, place);
      return;
    }
    case "augmented_assignment_expression":
    case "reference_assignment_expression":
    case "global_declaration":
    case "function_static_declaration": {
      const left = node.field("left") ?? node;
      if (left.type === "variable_name") file.bind(scope, left.text, { is: "variable" });
      else bindUnknown(left, place);
      return;
    }
    case "foreach_statement": {
      const [over, ...targets] = node.namedChildren.slice(0, -1);
      const of = over ? expressionOf(over, place) : UNKNOWN;
      const element: Expression = stepInto(of, ITERATED);
      // The first child is what is gone through, the last one the body.
      for (const each of targets) {
        const value = each.type === "pair" ? each.namedChildren.at(-1) : each;
        const key = each.type === "pair" ? each.namedChild(0) : undefined;
        if (key?.type === "variable_name") file.bind(scope, key.text, { is: "variable" });
        const name = value?.type === "by_ref" ? value.namedChild(0) : value;
        if (name?.type === "variable_name") bindValue(name.text, element, place);
        else if (name) bindUnknown(name, place);
      }
      return;
    }
    case "catch_clause": {
      const name = node.field("name");
      const [type, ...others] = node.field("type")?.namedChildren ?? [];
      if (name)
        file.bind(scope, name.text, { is: "variable", type: others.length > 0 ? UNKNOWN : typeOf(type, place) });
    }
  }
}

/** Values that `FileBuilder` follows are those of calls; another variable or property is known by an alias. */
function bindValue(name: string, value: Expression, { file, scope }: Place): void {
  if (value.is === "name" || value.is === "member") file.bind(scope, name, { is: "alias", of: value });
  else file.bind(scope, name, { is: "variable", value });
}

/** Binds the variables of a pattern, such as `[$a, $b]`, to what is not followed. */
export function bindUnknown(pattern: SyntaxNode, { file, scope }: Place): void {
  for (const each of pattern.namedChildren) {
    const name = each.type === "variable_name" ? each : (each.childOfType("variable_name") ?? each.field("name"));
    if (name?.type === "variable_name") file.bind(scope, name.text, { is: "variable" });
  }
}

/** A property without a declared type is what the only assignment to it gives. */
function propertyAssignment(left: SyntaxNode, value: Expression, { file, scope, untyped }: Place): void {
  const [object, name] = [left.field("object"), left.field("name")];
  const key = propertyKey(name?.text ?? "");
  if (scope.own && object?.text === "$this" && untyped.has(key)) file.member(scope.own, key, object.row + 1, value);
}

/** Binds the variables of `[$a, $b]` to the values of an array that is written there, or to its elements. */
function destructured(pattern: SyntaxNode, of: Expression, value: SyntaxNode, place: Place): void {
  const values = value.type === "array_creation_expression" ? value.namedChildren : undefined;
  for (const [i, each] of pattern.namedChildren.entries()) {
    if (each.type !== "variable_name") return bindUnknown(pattern, place);
    const own = values && valueIn(values[i]);
    const element: Expression = stepInto(of, ELEMENT);
    bindValue(each.text, own ? expressionOf(own, place) : values ? UNKNOWN : element, place);
  }
}

/** What a closure gets as a parameter without a type, where it is an argument of a call. */
export function handedTo(closure: SyntaxNode, at: number, place: Place): Expression | undefined {
  const argument = closure.parent?.type === "argument" ? closure.parent : undefined;
  const call = argument?.parent?.parent;
  if (!argument || !call) return undefined;
  const args = argumentsOf(call);
  const outer = args.findIndex(({ id }) => id === argument.id);
  const called = calledIn(call, place);
  if (!called || outer < 0) return undefined;
  const read = (each: SyntaxNode | undefined): Expression => (each ? expressionOf(each, place) : UNKNOWN);
  if (call.type === "function_call_expression") return handedByLibrary(called.name, args, [outer, at], read);
  return handedFrom(called.of, outer, at);
}

/** The types that a condition states of variables: `$a instanceof A && …`. */
export const narrowed = (condition: SyntaxNode | undefined, place: Place): Narrowed[] =>
  narrowedBy(condition, {
    conjunction: (each) =>
      each.type === "binary_expression" && /^(?:&&|and)$/.test(each.children[1]?.type ?? "")
        ? [each.namedChild(0), each.namedChildren.at(-1)]
        : undefined,
    test: (each) => instanceTest(each, place),
  });

function instanceTest(node: SyntaxNode, place: Place): Narrowed | undefined {
  if (node.type !== "binary_expression" || node.children[1]?.type !== "instanceof") return undefined;
  const [name, type] = [node.namedChild(0), node.namedChildren.at(-1)];
  return name?.type === "variable_name" && type && isName(type) ? [name.text, named(type.text, place)] : undefined;
}

/** What holds of variables behind `if (!$a instanceof A) { return; }`. */
export function narrowedAfter(node: SyntaxNode, place: Place): Narrowed[] {
  if (node.type !== "if_statement" || node.namedChildren.length !== 2) return [];
  const [condition, body] = node.namedChildren;
  const last = body?.type === "compound_statement" ? body.namedChildren.at(-1) : body;
  const leaves =
    last &&
    (/^(?:return|continue|break)_statement$/.test(last.type) || last.namedChild(0)?.type === "throw_expression");
  const test = condition?.type === "parenthesized_expression" ? condition.namedChild(0) : undefined;
  if (!leaves || test?.type !== "unary_op_expression" || test.children[0]?.type !== "!") return [];
  return narrowed(test.namedChildren.at(-1), place);
}
