import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, type FileBuilder, type OpenClass, type Scope, UNKNOWN } from "./file-builder.ts";
import { commonExports } from "./commonjs.ts";
import { MAX_DEPTH, MAX_EXPRESSION_DEPTH } from "./limits.ts";
import type { UseKind } from "./types.ts";
import { type Place, visitChildren } from "./walk.ts";

/** Reads a tree of TypeScript or JavaScript. */
export function readTypeScript(root: SyntaxNode, file: FileBuilder): void {
  children(root, { file, scope: file.top, depth: 0 });
}

const children = (node: SyntaxNode, place: Place): void => visitChildren(node, place, visit);

function visit(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  switch (node.type) {
    // What has no uses in it, so that most nodes are not asked for children.
    case "comment":
    case "identifier":
    case "property_identifier":
    case "shorthand_property_identifier":
    case "type_identifier":
    case "predefined_type":
    case "literal_type":
    case "string":
    case "number":
    case "regex":
    case "this":
    case "null":
    case "undefined":
    case "true":
    case "false":
      return;
    case "import_statement":
      importStatement(node, place);
      return;
    case "export_statement":
      exportStatement(node, place);
      return;
    case "function_declaration":
    case "generator_function_declaration":
    case "function_signature":
      functionLike(node, place, node.field("name"), true);
      return;
    case "function_expression":
    case "generator_function":
    case "arrow_function":
      functionLike(node, place, node.field("name"), false);
      return;
    case "class_declaration":
    case "abstract_class_declaration":
    case "interface_declaration":
    case "class":
      classLike(node, place, node.field("name"));
      return;
    case "enum_declaration":
    case "type_alias_declaration": {
      const name = node.field("name");
      if (name) file.bind(scope, name.text, { is: "definition", line: name.row + 1 });
      break;
    }
    case "variable_declarator":
      declarator(node, place);
      return;
    case "statement_block":
    case "for_statement":
    case "for_in_statement":
    case "catch_clause": {
      const inner = { ...place, scope: file.inner(scope, undefined) };
      pattern(node.type === "for_in_statement" ? node.field("left") : node.field("parameter"), inner);
      children(node, inner);
      return;
    }
    case "call_expression": {
      const called = node.field("function");
      const module = called && moduleOfCall(node, called, /^(?:require|import)$/);
      if (module !== undefined) file.imports(module, node.row + 1);
      if (called) use("call", called, place);
      break;
    }
    case "new_expression": {
      const made = node.field("constructor");
      if (made) use("construct", made, place);
      break;
    }
    case "jsx_opening_element":
    case "jsx_self_closing_element": {
      const component = node.field("name");
      // Names of elements of HTML begin with a lower-case letter.
      if (component && !/^\p{Ll}[^.]*$/u.test(component.text)) use("call", component, place);
      break;
    }
    case "decorator": {
      const [value] = node.namedChildren;
      const named = value?.type === "call_expression" ? value.field("function") : value;
      if (named) use("decorator", named, place);
      break;
    }
    case "assignment_expression":
      fieldAssignment(node, place);
      break;
  }
  children(node, place);
}

function use(kind: UseKind, node: SyntaxNode, { file, scope }: Place): void {
  const named = node.type === "member_expression" ? node.field("property") : node;
  if (named && named.type.endsWith("identifier"))
    file.use(kind, named.text, named.row + 1, scope, expressionOf(node, scope));
}

const unquoted = (node: SyntaxNode | undefined): string | undefined => node?.text.slice(1, -1);

function importStatement(node: SyntaxNode, { file, scope }: Place): void {
  const module = unquoted(node.field("source"));
  const clause = node.childOfType("import_clause");
  if (module !== undefined) file.imports(module, node.row + 1);
  if (module === undefined || !clause) return;
  const bind = (local: string, name: string) => file.bind(scope, local, { is: "import", module, name });
  for (const child of clause.namedChildren) {
    if (child.type === "identifier") bind(child.text, "default");
    else if (child.type === "namespace_import") bind(child.childOfType("identifier")?.text ?? "", "*");
    else
      for (const each of child.namedChildren) {
        const name = each.field("name")?.text;
        if (name !== undefined) bind(each.field("alias")?.text ?? name, name);
      }
  }
}

function exportStatement(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const module = unquoted(node.field("source"));
  if (module !== undefined) file.imports(module, node.row + 1);
  for (const each of node.childOfType("export_clause")?.namedChildren ?? []) {
    const name = each.field("name")?.text;
    if (name === undefined) continue;
    const alias = each.field("alias")?.text ?? name;
    file.exportAs(alias, module === undefined ? { is: "name", name, scope } : { module, name });
  }
  const namespace = node.childOfType("namespace_export")?.namedChild(0)?.text;
  if (module !== undefined && namespace !== undefined) file.exportAs(namespace, { module, name: "*" });
  else if (module !== undefined && !node.childOfType("export_clause")) file.star(module);
  const isDefault = node.children.some(({ type }) => type === "default");
  const declared = node.field("declaration");
  const value = node.field("value");
  const name = declared?.field("name");
  if (isDefault && name) file.exportAs("default", { is: "name", name: name.text, scope });
  else if (isDefault && value) file.exportAs("default", expressionOf(value, scope));
  children(node, place);
}

function functionLike(node: SyntaxNode, place: Place, name: SyntaxNode | undefined, isDeclared: boolean): void {
  const { file, scope } = place;
  if (name && isDeclared) file.bind(scope, name.text, { is: "definition", line: name.row + 1 });
  const returns = node.field("return_type");
  if (returns && name) file.returns(name.row + 1, typeOf(returns, scope));
  // `this` of a function expression is not that of the class; of an arrow function it is.
  const own = node.type === "arrow_function" || node.type === "method_definition" ? scope.own : undefined;
  const inner = { ...place, scope: file.inner(scope, name?.text, own) };
  parameters(node, inner);
  const body = node.field("body");
  if (body?.type === "statement_block") children(body, inner);
  else if (body) visit(body, inner);
}

function parameters(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const single = node.field("parameter");
  if (single) pattern(single, place);
  for (const each of node.field("parameters")?.namedChildren ?? []) {
    const bound = each.field("pattern") ?? each;
    const type = each.field("type");
    if (bound.type !== "identifier") pattern(bound, place);
    else {
      const known = type && typeOf(type, scope.outer ?? scope);
      file.bind(scope, bound.text, { is: "variable", type: known });
      // `constructor(private readonly store: Store)` declares a field.
      const isField = each.childOfType("accessibility_modifier") ?? each.children.find((c) => c.type === "readonly");
      if (isField && scope.own) file.member(scope.own, bound.text, bound.row + 1, known ?? UNKNOWN);
    }
    for (const child of each.namedChildren)
      if (child.type === "decorator" || child.id === each.field("value")?.id) visit(child, place);
  }
}

function classLike(node: SyntaxNode, place: Place, name: SyntaxNode | undefined): void {
  const { file, scope } = place;
  const line = (name ?? node).row + 1;
  const opened = file.openClass(line);
  if (name && node.type !== "class") file.bind(scope, name.text, { is: "definition", line });
  const inner = { ...place, scope: file.inner(scope, name?.text, opened) };
  for (const clause of node.namedChildren) {
    if (clause.type === "decorator") visit(clause, place);
    if (clause.type === "class_heritage" || clause.type === "extends_type_clause") heritage(clause, opened, inner);
  }
  for (const member of node.field("body")?.namedChildren ?? []) classMember(member, opened, inner);
}

function heritage(node: SyntaxNode, opened: OpenClass, place: Place): void {
  for (const base of node.namedChildren) {
    if (base.type === "extends_clause" || base.type === "implements_clause") heritage(base, opened, place);
    else if (base.type !== "type_arguments") {
      const named = base.type === "generic_type" ? (base.field("name") ?? base) : base;
      use("inherit", named, place);
      opened.bases.push(expressionOf(named, place.scope));
      if (named.type === "call_expression") visit(named, place);
    }
  }
}

function classMember(node: SyntaxNode, opened: OpenClass, place: Place): void {
  const { file, scope } = place;
  const name = node.field("name") ?? node.field("property");
  const type = node.field("type");
  const value = node.field("value");
  if (node.type === "method_definition" || node.type.endsWith("method_signature")) {
    const returns = node.field("return_type");
    const isGetter = node.children.some((child) => child.type === "get");
    if (name) file.member(opened, name.text, name.row + 1, isGetter && returns ? typeOf(returns, scope) : undefined);
    functionLike(node, place, name, false);
  } else if (name && /(?:field_definition|property_signature)$/.test(node.type)) {
    const isFunction = value !== undefined && /^(?:arrow_function|function_expression)$/.test(value.type);
    const known = type ? typeOf(type, scope) : value && !isFunction ? valueOf(value, scope) : undefined;
    file.member(opened, name.text, name.row + 1, known);
    if (value && isFunction) functionLike(value, place, name, false);
    else if (value) visit(value, place);
    for (const child of node.namedChildren) if (child.type === "decorator") visit(child, place);
  } else visit(node, place);
}

function declarator(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const name = node.field("name");
  const type = node.field("type");
  const value = node.field("value");
  // `require("./a").b` takes one name of the module.
  const taken = value?.type === "member_expression" ? value.field("property")?.text : undefined;
  const module = requiredModule(taken === undefined ? value : value?.field("object"));
  if (name?.type === "identifier") {
    const line = name.row + 1;
    const isFunction = value !== undefined && /^(?:arrow_function|function_expression|class)$/.test(value.type);
    if (module !== undefined) file.bind(scope, name.text, { is: "import", module, name: taken ?? "*" });
    else if (isFunction) file.bind(scope, name.text, { is: "definition", line });
    else {
      const known = type ? { type: typeOf(type, scope) } : { value: value && valueOf(value, scope) };
      file.bind(scope, name.text, { is: "variable", line: scope === file.top ? line : undefined, ...known });
    }
    if (value && isFunction) {
      if (value.type === "class") classLike(value, place, name);
      else functionLike(value, place, name, false);
      return;
    }
  } else if (name?.type === "object_pattern" && module !== undefined && taken === undefined)
    for (const each of name.namedChildren) {
      const key = each.type === "pair_pattern" ? each.field("key") : each;
      const local = each.type === "pair_pattern" ? each.field("value") : each;
      if (key && local && /identifier/.test(local.type))
        file.bind(scope, local.text, { is: "import", module, name: key.text });
    }
  else pattern(name, place);
  if (value) visit(value, place);
}

/** The module of `require("…")`. */
function requiredModule(value: SyntaxNode | undefined): string | undefined {
  const called = value?.type === "call_expression" ? value.field("function") : undefined;
  return value && called && moduleOfCall(value, called, /^require$/);
}

/** The module that a call of one of the named functions names. */
function moduleOfCall(call: SyntaxNode, called: SyntaxNode, by: RegExp): string | undefined {
  if ((called.type !== "identifier" && called.type !== "import") || !by.test(called.text)) return undefined;
  const [argument, ...others] = call.field("arguments")?.namedChildren ?? [];
  return argument?.type === "string" && others.length === 0 ? unquoted(argument) : undefined;
}

/** `this.store = new Store()` gives a field its type, in JavaScript the field itself. */
function fieldAssignment(node: SyntaxNode, { file, scope }: Place): void {
  const left = node.field("left");
  const right = node.field("right");
  if (scope === file.top && left && right) commonExports(left, right, file);
  const field = left?.field("property");
  if (left?.type === "member_expression" && left.field("object")?.type === "this" && scope.own && field && right)
    file.member(scope.own, field.text, field.row + 1, valueOf(right, scope));
  else if (left?.type === "identifier" && scope.names.get(left.text)?.is === "variable")
    file.bind(scope, left.text, { is: "variable" });
}

/** Binds the names of a pattern to values that are not followed. */
function pattern(node: SyntaxNode | undefined, place: Place): void {
  if (!node || place.depth >= MAX_DEPTH) return;
  const inner = { ...place, depth: place.depth + 1 };
  if (node.type === "identifier" || node.type === "shorthand_property_identifier_pattern")
    place.file.bind(place.scope, node.text, { is: "variable" });
  else if (node.type === "pair_pattern") pattern(node.field("value"), inner);
  else if (node.type.endsWith("assignment_pattern")) pattern(node.field("left"), inner);
  else if (node.type.endsWith("_pattern")) for (const child of node.namedChildren) pattern(child, inner);
}

/** The value of a variable: constructions and calls are followed, names as types of parameters. */
function valueOf(node: SyntaxNode, scope: Scope): Expression {
  const of = expressionOf(node, scope);
  if (of.is !== "name") return of.is === "call" ? of : UNKNOWN;
  const binding = scope.names.get(of.name);
  return (binding?.is === "variable" ? (binding.type ?? binding.value) : undefined) ?? UNKNOWN;
}

function expressionOf(node: SyntaxNode, scope: Scope, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  const inner = (field: string): Expression => {
    const child = node.field(field);
    return child ? expressionOf(child, scope, depth + 1) : UNKNOWN;
  };
  switch (node.type) {
    case "identifier":
    case "type_identifier":
      return { is: "name", name: node.text, scope };
    case "this":
      return scope.own ? { is: "class", line: scope.own.line } : UNKNOWN;
    case "super":
      return scope.own ? { is: "base", of: scope.own } : UNKNOWN;
    case "member_expression":
      return { is: "member", of: inner("object"), name: node.field("property")?.text ?? "" };
    case "nested_type_identifier":
      return { is: "member", of: inner("module"), name: node.field("name")?.text ?? "" };
    case "call_expression":
      return { is: "call", of: inner("function") };
    case "new_expression":
      return { is: "call", of: inner("constructor") };
    case "await_expression":
    case "parenthesized_expression":
    case "non_null_expression": {
      const child = node.namedChild(0);
      return child ? expressionOf(child, scope, depth + 1) : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}

/** A declared type: `T`, `m.T`, `T<…>`, `T | undefined`; of a promise what it resolves to. */
function typeOf(node: SyntaxNode, scope: Scope, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "type_annotation":
    case "parenthesized_type":
    case "readonly_type": {
      const child = node.namedChild(0);
      return child ? typeOf(child, scope, depth + 1) : UNKNOWN;
    }
    case "generic_type": {
      const name = node.field("name");
      const argument = node.field("type_arguments")?.namedChild(0);
      if (name?.text === "Promise" && argument) return typeOf(argument, scope, depth + 1);
      return name ? typeOf(name, scope, depth + 1) : UNKNOWN;
    }
    case "union_type": {
      const parts = node.namedChildren.filter(({ text }) => text !== "undefined" && text !== "null");
      return parts.length === 1 && parts[0] ? typeOf(parts[0], scope, depth + 1) : UNKNOWN;
    }
    case "type_identifier":
    case "nested_type_identifier":
      return expressionOf(node, scope);
    default:
      return UNKNOWN;
  }
}
