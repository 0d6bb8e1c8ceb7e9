import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, givenOr, givenPart, isBoundWithin, lookUp, type OpenClass, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { bareName, elementOf, expressionOf, typeOf, valueOf } from "./go-expressions.ts";
import { MAX_DEPTH } from "./limits.ts";
import { lastPartOfPath, PACKAGE } from "./packages.ts";
import { isStandardModule } from "./standard-library.ts";
import { nameInPackage, type Place as BasePlace, visitChildren } from "./walk.ts";
import { ELEMENT, ITERATED, LIST } from "./wrapped.ts";

/** Reads a Go tree. */
export function readGo(root: SyntaxNode, file: FileBuilder): void {
  children(root, { file, scope: file.top, depth: 0, begun: 0 });
}

interface Place extends BasePlace {
  /** Scopes that declarations have begun around here. */
  begun: number;
}

/** Declarations of a function that begin a scope: more are bound in one, which takes no longer to look through. */
const MAX_BEGUN = 300;

/** Nodes whose declarations are seen only inside of them. */
const BLOCKS: ReadonlySet<string> = new Set([
  "block",
  "if_statement",
  "for_statement",
  "expression_switch_statement",
  "expression_case",
  "default_case",
  "communication_case",
  "type_case",
]);

const children = (node: SyntaxNode, place: Place): void => visitChildren(node, place, visit);

function visit(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  switch (node.type) {
    case "comment":
      return;
    case "identifier":
      if (HOLDING.has(place.around ?? ""))
        file.reference(node.text, node.row + 1, scope, nameInPackage(node.text, scope));
      return;
    case "selector_expression":
      if (HOLDING.has(place.around ?? "")) member(node, place);
      break;
    case "keyed_element": {
      // The name of a field means no function.
      const [key, value] = node.namedChildren;
      if (key?.namedChild(0)?.type !== "identifier") children(node, place);
      else if (value) children(value, place);
      return;
    }
    case "package_clause":
      file.bind(scope, PACKAGE, { is: "import", module: node.namedChild(0)?.text ?? "", name: "*" });
      return;
    case "import_spec":
      importSpec(node, place);
      return;
    case "type_spec":
      typeSpec(node, place);
      return;
    case "type_alias": {
      const [name, type] = [node.field("name"), node.field("type")];
      if (name && type) file.bind(scope, name.text, { is: "alias", of: typeOf(type, scope) });
      return;
    }
    case "struct_type":
      structType(node, file.openClass(node.row + 1), place);
      return;
    case "function_declaration":
    case "method_declaration":
      functionDeclaration(node, place);
      return;
    case "func_literal":
      functionBody(node, { ...place, scope: file.inner(scope, undefined) });
      return;
    case "var_spec":
    case "const_spec":
      variables(node.fields("name"), node, place);
      return;
    case "short_var_declaration":
      children(node.field("right") ?? node, place);
      // What stands before a declaration in its block, also on its right side, means another name.
      if (node.parent?.type === "statement_list" && place.begun++ < MAX_BEGUN)
        place.scope = file.inner(scope, undefined);
      bindValues(node.field("left")?.namedChildren ?? [], node.field("right"), place);
      return;
    case "range_clause":
      rangeVariables(node, place);
      break;
    case "receive_statement":
      received(node, place);
      break;
    case "type_switch_statement":
      typeSwitch(node, place);
      return;
    case "call_expression": {
      const called = node.field("function");
      if (called) use("call", called, place);
      break;
    }
    case "composite_literal": {
      const type = node.field("type");
      if (type) use("construct", type, place);
      break;
    }
  }
  if (BLOCKS.has(node.type)) children(node, { ...place, scope: file.inner(scope, undefined) });
  else children(node, place);
}

function use(kind: "call" | "construct" | "inherit", node: SyntaxNode, place: Place): void {
  const bare = bareName(node);
  const named = bare?.field(bare.type === "selector_expression" ? "field" : "name") ?? bare;
  if (bare && named?.type.endsWith("identifier"))
    place.file.use(kind, named.text, named.row + 1, place.scope, expressionOf(bare, place.scope));
}

/** What a function may be handed to or kept in: a name in it is a value. */
const HOLDING = wordSet("argument_list expression_list literal_element");

/**
 * A function of a package or a method that is handed over or kept: `p.F`, `x.method`. What is of the standard library, as constants are that
 * are given to functions, is none, nor a member of what is not known.
 */
function member(node: SyntaxNode, { file, scope }: Place): void {
  const operand = node.field("operand");
  if (operand?.type !== "identifier") return;
  const { text } = operand;
  const bound = lookUp(scope, text);
  if (bound?.is === "variable" && !bound.type && !bound.value) return;
  if (bound?.is === "import" && isStandardModule("a.go", bound.module)) return;
  const name = node.field("field");
  if (!name) return;
  const of: Expression = { is: "member", of: nameInPackage(text, scope), name: name.text };
  file.reference(of.name, name.row + 1, scope, of);
}

function importSpec(node: SyntaxNode, { file, scope }: Place): void {
  const module = node.field("path")?.text.slice(1, -1);
  if (module === undefined) return;
  file.imports(module, node.row + 1);
  const name = node.field("name");
  if (name?.type === "dot") file.star(module);
  else if (name?.type !== "blank_identifier") {
    file.bind(scope, name?.text ?? lastPartOfPath(module).replace(/\.v\d+$/, ""), { is: "import", module, name: "*" });
  }
}

function typeSpec(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const [name, type] = [node.field("name"), node.field("type")];
  if (!name || !type) return;
  const line = name.row + 1;
  file.bind(scope, name.text, { is: "definition", line });
  const opened = file.openClass(line);
  const inner: Place = { ...place, scope: file.inner(scope, name.text) };
  typeParameters(node, inner, name.text);
  if (node.field("type_parameters")) file.declaresTypes(opened, name.text);
  if (type.type === "struct_type") structType(type, opened, inner);
  else if (type.type === "function_type") returns(type, line, inner);
  else if (type.type === "interface_type") {
    for (const member of type.namedChildren) interfaceMember(member, opened, inner);
  } else {
    const element = elementOf(type, inner.scope);
    if (element.is !== "unknown") file.member(opened, ELEMENT, line, element);
    if (type.type === "channel_type") file.member(opened, ITERATED, line, element);
  }
}

function structType(node: SyntaxNode, opened: OpenClass, place: Place): void {
  for (const field of node.childOfType("field_declaration_list")?.namedChildren ?? [])
    structField(field, opened, place);
}

function structField(node: SyntaxNode, opened: OpenClass, place: Place): void {
  if (node.type !== "field_declaration") return;
  const type = node.field("type");
  const names = node.fields("name");
  const known = type ? typeOutside(type, place) : UNKNOWN;
  if (type && place.depth < MAX_DEPTH) visit(type, { ...place, depth: place.depth + 1 });
  for (const name of names) place.file.member(opened, name.text, name.row + 1, known);
  if (names.length > 0 || !type) return;
  // An embedded type is a field with the type's name, and lends its members.
  const bare = bareName(type.type === "pointer_type" ? type.namedChild(0) : type);
  if (!bare) return;
  use("inherit", bare, place);
  opened.bases.push(expressionOf(bare, place.scope));
  place.file.member(opened, (bare.field("name") ?? bare).text, bare.row + 1, expressionOf(bare, place.scope));
}

function interfaceMember(node: SyntaxNode, opened: OpenClass, place: Place): void {
  const name = node.field("name");
  if (node.type === "method_elem" && name) {
    place.file.member(opened, name.text, name.row + 1);
    returns(node, name.row + 1, place);
  } else if (node.type === "type_elem" && node.namedChildren.length === 1) {
    const bare = bareName(node.namedChild(0));
    if (!bare) return;
    use("inherit", bare, place);
    opened.bases.push(expressionOf(bare, place.scope));
  }
}

function functionDeclaration(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const name = node.field("name");
  if (!name) return;
  const line = name.row + 1;
  const receiver = node.field("receiver")?.namedChildren.find(({ type }) => type === "parameter_declaration");
  const type = receiver?.field("type");
  const of = type && bareName(type.type === "pointer_type" ? type.namedChild(0) : type);
  const path = of === undefined ? name.text : `${of.text}.${name.text}`;
  if (node.type === "function_declaration") {
    if (name.text !== "init" && name.text !== "_") file.bindOnce(scope, name.text, line);
  } else if (of) file.bind(scope, path, { is: "definition", line });
  // Parameters may have the names of types, as in `f(node node)`, so type parameters have a scope of their own.
  const typed = { ...place, scope: file.inner(scope, path) };
  typeParameters(node, typed);
  const generic = type?.type === "pointer_type" ? type.namedChild(0) : type;
  for (const [at, argument] of (generic?.field("type_arguments")?.namedChildren ?? []).entries())
    file.bind(typed.scope, argument.text, { is: "alias", of: givenOr(of?.text ?? "", at, UNKNOWN) });
  const inner = { ...place, scope: file.inner(typed.scope, undefined) };
  const self = receiver?.field("name");
  if (self && of) file.bind(inner.scope, self.text, { is: "variable", type: expressionOf(of, scope) });
  returns(node, line, inner);
  functionBody(node, inner);
}

function functionBody(node: SyntaxNode, place: Place): void {
  parameters(node.field("parameters"), place);
  const result = node.field("result");
  if (result?.type === "parameter_list") parameters(result, place);
  const body = node.field("body");
  if (body) children(body, place);
}

/** The type of a function's first result; a second one is an error or a flag. */
function returns(node: SyntaxNode, line: number, place: Place): void {
  const result = node.field("result");
  const type = result?.type === "parameter_list" ? result.namedChild(0)?.field("type") : result;
  if (type) place.file.returns(line, typeOutside(type, place));
}

/** A type as others see it: a type parameter is what a value's type gives it, and that of a function is unknown. */
function typeOutside(type: SyntaxNode, place: Place): Expression {
  if (!isTypeParameter(type, place)) return typeOf(type, place.scope);
  return givenPart(lookUp(place.scope, (type.type === "pointer_type" ? type.namedChild(0) : type)?.text ?? ""));
}

/**
 * A type parameter whose constraint is an interface is known by it within its function; outside of that it stands for a type of its own, and one of
 * the type `owner` for what a value's type gives it.
 */
function typeParameters(node: SyntaxNode, { file, scope }: Place, owner?: string): void {
  let at = 0;
  for (const each of node.field("type_parameters")?.namedChildren ?? []) {
    const [constraint, ...others] = each.field("type")?.namedChildren ?? [];
    const of = constraint && others.length === 0 ? typeOf(constraint, scope) : UNKNOWN;
    for (const name of each.fields("name")) {
      const type = owner === undefined ? of : givenOr(owner, at++, of);
      file.bind(scope, name.text, type.is === "unknown" ? { is: "variable" } : { is: "alias", of: type });
    }
  }
}

function isTypeParameter(type: SyntaxNode, { file, scope }: Place): boolean {
  const bare = type.type === "pointer_type" ? type.namedChild(0) : type;
  return bare?.type === "type_identifier" && isBoundWithin(file.top, scope, bare.text);
}

function parameters(list: SyntaxNode | undefined, { file, scope }: Place): void {
  for (const each of list?.namedChildren ?? []) {
    const type = each.field("type");
    const of = type && typeOf(type, scope.outer ?? scope);
    const isRest = each.type === "variadic_parameter_declaration";
    const known: Expression | undefined = isRest && of && of.is !== "unknown" ? { is: "member", of, name: LIST } : of;
    for (const name of each.fields("name")) file.bind(scope, name.text, { is: "variable", type: known });
  }
}

function variables(names: readonly SyntaxNode[], node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const type = node.field("type");
  const value = node.field("value");
  if (value) children(value, place);
  if (!type) {
    bindValues(names, value, place);
    return;
  }
  for (const name of names)
    file.bind(scope, name.text, { is: "variable", line: lineAtTop(name, place), type: typeOf(type, scope) });
}

const lineAtTop = (name: SyntaxNode, { file, scope }: Place): number | undefined =>
  scope === file.top ? name.row + 1 : undefined;

/** Binds names to values: each to its own, or the first to the first result of a call. */
function bindValues(names: readonly SyntaxNode[], values: SyntaxNode | undefined, place: Place): void {
  const { file, scope } = place;
  const before = scope.outer ?? scope;
  const given = values?.namedChildren ?? [];
  for (const [i, name] of names.entries()) {
    if (name.type !== "identifier" || name.text === "_") continue;
    const known =
      given[i] && (given.length === names.length || i === 0)
        ? valueOf(given[i], names[0]?.parent?.type === "expression_list" ? before : scope)
        : {};
    // `x, err := f()` assigns what the same block declares before.
    if (scope.names.has(name.text) && i > 0) continue;
    file.bind(scope, name.text, { is: "variable", line: lineAtTop(name, place), ...known });
  }
}

/** The second variable of a loop is an element, of a channel the first. A number that the first is otherwise has no methods. */
function rangeVariables(node: SyntaxNode, { file, scope }: Place): void {
  const over = node.field("right");
  const of = over ? expressionOf(over, scope.outer ?? scope) : UNKNOWN;
  for (const [i, name] of (node.field("left")?.namedChildren ?? []).entries())
    if (name.type === "identifier")
      file.bind(scope, name.text, { is: "variable", value: { is: "member", of, name: i === 0 ? ITERATED : ELEMENT } });
}

/** `case value, ok := <-channel`. */
function received(node: SyntaxNode, { file, scope }: Place): void {
  const value = node.field("right");
  for (const [i, name] of (node.field("left")?.namedChildren ?? []).entries()) {
    const known = i === 0 && value ? valueOf(value, scope.outer ?? scope) : {};
    if (name.type === "identifier") file.bind(scope, name.text, { is: "variable", ...known });
  }
}

function typeSwitch(node: SyntaxNode, place: Place): void {
  const { file } = place;
  const alias = node.field("alias")?.namedChild(0)?.text;
  const value = node.field("value");
  if (value) visit(value, place);
  for (const each of node.namedChildren) {
    if (each.type !== "type_case" && each.type !== "default_case") continue;
    const scope = file.inner(place.scope, undefined);
    const [type, ...others] = each.fields("type");
    const known = type && others.length === 0 ? typeOf(type, place.scope) : undefined;
    if (alias !== undefined) file.bind(scope, alias, { is: "variable", type: known });
    children(each, { ...place, scope });
  }
}
