/** What expressions and types of Go mean. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, instanceOf, lookUp, type Scope, stepInto, UNKNOWN, withArguments } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { nameInPackage } from "./walk.ts";
import { ELEMENT, FUNCTION, LIST, MAP, type Wrapping } from "./wrapped.ts";

/** The name under parentheses, type arguments and pointers. */
export function bareName(node: SyntaxNode | undefined, depth = 0): SyntaxNode | undefined {
  if (!node || depth > MAX_EXPRESSION_DEPTH) return undefined;
  if (node.type === "generic_type") return bareName(node.field("type") ?? node.namedChild(0), depth + 1);
  if (node.type === "type_instantiation_expression" || node.type === "parenthesized_expression")
    return bareName(node.namedChild(0), depth + 1);
  return /^(?:identifier|type_identifier|selector_expression|qualified_type)$/.test(node.type) ? node : undefined;
}

/** What a variable holds: a literal's type, or the result of a call. */
export function valueOf(node: SyntaxNode, scope: Scope, depth = 0): { type?: Expression; value?: Expression } {
  if (isReceive(node)) return { value: expressionOf(node, scope) };
  const inner = node.type === "unary_expression" ? node.field("operand") : node;
  if (!inner || depth > MAX_EXPRESSION_DEPTH) return {};
  switch (inner.type) {
    case "composite_literal":
    case "type_assertion_expression": {
      const type = inner.field("type");
      return type ? { type: typeOf(type, scope) } : {};
    }
    case "call_expression": {
      const [argument] = inner.field("arguments")?.namedChildren ?? [];
      const called = inner.field("function")?.text;
      if ((called === "new" || called === "make") && argument) return { type: typeOf(argument, scope) };
      if (called === "append" && argument) return valueOf(argument, scope, depth + 1);
      return { value: expressionOf(inner, scope) };
    }
    case "parenthesized_expression": {
      const child = inner.namedChild(0);
      return child ? valueOf(child, scope, depth + 1) : {};
    }
    case "slice_expression": {
      const operand = inner.field("operand");
      return operand ? valueOf(operand, scope, depth + 1) : {};
    }
    case "selector_expression":
    case "index_expression":
    case "func_literal":
      return { value: expressionOf(inner, scope) };
    case "identifier": {
      const binding = lookUp(scope, inner.text);
      return binding?.is === "variable" ? ({ type: binding.type, value: binding.value } as { type?: Expression }) : {};
    }
    default:
      return {};
  }
}

export function expressionOf(node: SyntaxNode, scope: Scope, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  const inner = (field: string): Expression => {
    const child = node.field(field);
    return child ? expressionOf(child, scope, depth + 1) : UNKNOWN;
  };
  switch (node.type) {
    case "identifier":
    case "type_identifier":
    case "package_identifier":
      return nameInPackage(node.text, scope);
    case "selector_expression":
      return { is: "member", of: inner("operand"), name: node.field("field")?.text ?? "" };
    case "qualified_type":
      return { is: "member", of: inner("package"), name: node.field("name")?.text ?? "" };
    case "call_expression":
      return givenByLibrary(node, scope, depth) ?? { is: "call", of: inner("function") };
    case "func_literal":
      return functionOf(node, scope, depth);
    case "parenthesized_expression":
    case "type_instantiation_expression": {
      const child = node.namedChild(0);
      return child ? expressionOf(child, scope, depth + 1) : UNKNOWN;
    }
    case "composite_literal": {
      const type = node.field("type");
      const of = type && typeOf(type, scope);
      // A literal is an instance of its type, as the result of a construction is.
      return of && of.is !== "unknown" ? { is: "call", of } : UNKNOWN;
    }
    case "type_assertion_expression": {
      const type = node.field("type");
      return type ? typeOf(type, scope, depth + 1) : UNKNOWN;
    }
    case "unary_expression":
      return isReceive(node) ? { is: "member", of: inner("operand"), name: ELEMENT } : inner("operand");
    case "index_expression":
      return { is: "member", of: inner("operand"), name: ELEMENT };
    case "slice_expression":
      return inner("operand");
    default:
      return UNKNOWN;
  }
}

/** What gives a value when it is called: the first result of a function or of its type. */
function functionOf(node: SyntaxNode, scope: Scope, depth: number): Expression {
  const result = node.field("result");
  const type = result?.type === "parameter_list" ? result.namedChild(0)?.field("type") : result;
  return stepInto(type ? typeOf(type, scope, depth + 1) : UNKNOWN, FUNCTION);
}

/** Functions of the library that give their first argument, an element of it, or all of its elements. */
const SAME = /^slices\.(?:Clone|Clip|Collect|Compact\w*|Concat|Delete\w*|Grow|Insert|Repeat|Replace|Sorted\w*|Values)$/;
const ONE = /^slices\.(?:MaxFunc|MinFunc|Max|Min)$/;
const ALL = /^maps\.Values$/;

/** What a call of a function of the library gives that hands on what it is called with; undefined for other calls. */
function givenByLibrary(call: SyntaxNode, scope: Scope, depth: number): Expression | undefined {
  const called = call.field("function")?.text.slice(0, MAX_NAME) ?? "";
  const [argument] = call.field("arguments")?.namedChildren ?? [];
  if (!argument) return undefined;
  if ((called === "new" || called === "make") && !lookUp(scope, called)) {
    return instanceOf(typeOf(argument, scope, depth + 1));
  }
  const isSame = SAME.test(called);
  if (!isSame && !ONE.test(called) && !ALL.test(called)) return undefined;
  const binding = lookUp(scope, called.slice(0, called.indexOf(".")));
  if (binding?.is !== "import" || !/^(?:slices|maps)$/.test(binding.module)) return undefined;
  const of = expressionOf(argument, scope, depth + 1);
  if (isSame || of.is === "unknown") return of;
  const element: Expression = { is: "member", of, name: ELEMENT };
  return ALL.test(called) ? stepInto(element, LIST) : element;
}

const MAX_NAME = 100;

/** A value from a channel: `<-c`. */
const isReceive = (node: SyntaxNode): boolean =>
  node.type === "unary_expression" && node.field("operator")?.text === "<-";

const HOLDING = /^(?:slice|array|map|channel)_type$/;

/** What a slice, array, map or channel holds, by its type. */
export function elementOf(type: SyntaxNode, scope: Scope, depth = 0): Expression {
  const held = HOLDING.test(type.type) ? (type.field("element") ?? type.field("value")) : undefined;
  return held ? typeOf(held, scope, depth + 1) : UNKNOWN;
}

/** A declared type: `T`, `*T`, `p.T`, `T[K]`. */
export function typeOf(node: SyntaxNode, scope: Scope, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  if (node.type === "pointer_type" || node.type === "parenthesized_type") {
    const child = node.namedChild(0);
    return child ? typeOf(child, scope, depth + 1) : UNKNOWN;
  }
  if (HOLDING.test(node.type)) {
    return stepInto(elementOf(node, scope, depth), node.type === "map_type" ? MAP : LIST);
  }
  if (node.type === "function_type") return functionOf(node, scope, depth);
  if (node.type === "struct_type") return { is: "class", line: node.row + 1 };
  if (node.type === "generic_type") return genericType(node, scope, depth);
  const bare = node.type === "identifier" || node.type === "selector_expression" ? undefined : bareName(node);
  return bare ? expressionOf(bare, scope) : node.type === "identifier" ? nameInPackage(node.text, scope) : UNKNOWN;
}

/** Generic types of the library that hold values of the type of their last argument. */
const HELD: ReadonlyMap<string, Wrapping> = new Map([
  ["iter.Seq", LIST],
  ["iter.Seq2", MAP],
  ["atomic.Pointer", FUNCTION],
]);

/** `T[A, B]`: a type with its type arguments. */
function genericType(node: SyntaxNode, scope: Scope, depth: number): Expression {
  const bare = bareName(node);
  const given = (node.field("type_arguments")?.namedChildren ?? []).map((each) => {
    const type = each.type === "type_elem" ? each.namedChild(0) : each;
    return type ? typeOf(type, scope, depth + 1) : UNKNOWN;
  });
  if (!bare) return UNKNOWN;
  const wrapping = HELD.get(bare.text.slice(0, MAX_NAME));
  if (wrapping) return stepInto(given.at(-1) ?? UNKNOWN, wrapping);
  return withArguments(expressionOf(bare, scope), given);
}
