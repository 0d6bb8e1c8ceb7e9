/** What the variables of C# are bound to by declarations, loops, patterns and `out` arguments. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { alternativesOf } from "./choices.ts";
import { choices, elementOf, expressionOf, type Place, typeOf } from "./csharp-expressions.ts";
import { declared } from "./csharp-methods.ts";
import { type Expression, UNKNOWN } from "./expressions.ts";
import { ELEMENT, ITERATED, SECOND_PLACE } from "./wrapped.ts";

/** Binds the variables that a statement, pattern or argument declares. */
export function bindNamed(node: SyntaxNode, place: Place): void {
  const { scope } = place;
  switch (node.type) {
    case "variable_declaration": {
      const type = node.field("type");
      for (const each of node.namedChildren) if (each.type === "variable_declarator") variable(each, type, place);
      return;
    }
    case "foreach_statement": {
      const left = node.field("left");
      const over = elementOf(node.field("right"), ITERATED, { ...place, scope: scope.outer ?? scope });
      if (left?.type === "identifier") bindValue(left.text, declared(node, place), over, place);
      else if (left) bindEntry(left, over, place);
      return;
    }
    case "catch_declaration":
    case "declaration_expression":
    case "declaration_pattern": {
      const name = node.field("name");
      if (name) bindValue(name.text, declared(node, place), givenOut(node, place), place);
      return;
    }
    case "recursive_pattern":
    case "var_pattern":
    case "parenthesized_variable_designation":
      bindUnknown(node, place);
  }
}

function variable(node: SyntaxNode, type: SyntaxNode | undefined, place: Place): void {
  const { file, scope } = place;
  const name = node.field("name");
  const pattern = node.childOfType("tuple_pattern");
  if (pattern) bindUnknown(pattern, place);
  if (!name) return;
  if (type && type.type !== "implicit_type") {
    file.bind(scope, name.text, { is: "variable", type: typeOf(type, place) });
    return;
  }
  const last = node.namedChildren.at(-1);
  const values = last && last.id !== name.id ? alternativesOf(last, choices) : [];
  if (values.length === 0) file.bind(scope, name.text, { is: "variable" });
  for (const each of values) {
    const value = expressionOf(each, place);
    if (value.is === "name" || value.is === "member") file.bind(scope, name.text, { is: "alias", of: value });
    else file.bind(scope, name.text, { is: "variable", value });
  }
}

/** Binds a variable with a declared type, or with a value that tells the type. */
const bindValue = (name: string, type: Expression | undefined, value: Expression, { file, scope }: Place): void =>
  file.bind(scope, name, { is: "variable", ...(type ? { type } : { value }) });

/** Methods that give an element of what they are called on to their `out` argument. */
const GIVE_OUT = /^Try(?:GetValue|Dequeue|Peek|Pop|Take|Remove)$/;

/** What `map.TryGetValue(key, out var value)` gives to the variable that it declares. */
function givenOut(node: SyntaxNode, place: Place): Expression {
  const called = node.parent?.parent?.parent?.field("function");
  const isOut = node.type === "declaration_expression" && called?.type === "member_access_expression";
  return isOut && GIVE_OUT.test(called.field("name")?.text ?? "")
    ? elementOf(called.field("expression"), ELEMENT, place)
    : UNKNOWN;
}

/** Binds the names of `(key, value)`: of an entry the second is the value. */
function bindEntry(pattern: SyntaxNode, of: Expression, { file, scope }: Place): void {
  const names = pattern.fields("name").filter(({ type }) => type === "identifier");
  for (const [at, name] of names.entries()) {
    const value: Expression = at === 1 && of.is !== "unknown" ? { is: "member", of, name: SECOND_PLACE } : UNKNOWN;
    file.bind(scope, name.text, { is: "variable", value });
  }
}

function bindUnknown(pattern: SyntaxNode, { file, scope }: Place): void {
  for (const name of pattern.fields("name"))
    if (name.type === "identifier") file.bind(scope, name.text, { is: "variable" });
}
