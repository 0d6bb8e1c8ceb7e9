import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { bindNamed } from "./csharp-bindings.ts";
import { handedTo, handsOver } from "./csharp-callbacks.ts";
import { calledIn, lastOf, type Place, typeKey, typeOf } from "./csharp-expressions.ts";
import { componentTag, TAG } from "./csharp-components.ts";
import { declared, extension, keysOf, returned, typeParameters } from "./csharp-methods.ts";
import { GLOBAL_USING } from "./csharp-projects.ts";
import { HANDED, reference } from "./csharp-references.ts";
import { type Expression, type OpenClass } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { MAX_DEPTH } from "./limits.ts";
import { ANY_NUMBER, takes } from "./overload-sets.ts";
import { PACKAGE, partialKey } from "./packages.ts";
import { visitChildren } from "./walk.ts";

/** Classes of `using static` that are followed in a file. */
const MAX_STATICS = 20;
/** Namespaces around a namespace whose types it sees. */
const MAX_NAMESPACES = 10;

/**
 * Reads a C# tree. Methods are known as `name/2`, by the number of their parameters, as in Java: overloads of the same number are told apart
 * by types, which are not compared: a call may mean each of them. Generic types are known as `` Name`1 ``.
 */
export function readCsharp(root: SyntaxNode, file: FileBuilder): void {
  const names = { namespace: "", scope: file.top, statics: [] };
  const usings: string[] = [];
  children(root, { file, scope: file.top, depth: 0, names, isPartial: false, usings });
  const own = file.top.names.get(PACKAGE);
  if (own?.is === "import") for (const outer of [...around(own.module).slice(1), ""]) file.star(outer);
  for (const using of usings) file.star(using);
}

export interface Open extends Place {
  /** Namespaces that the file uses as a whole. */
  usings: string[];
}

export const children = (node: SyntaxNode, place: Open): void => visitChildren(node, place, visit);

const BLOCKS: ReadonlySet<string> = new Set([
  "block",
  "for_statement",
  "foreach_statement",
  "using_statement",
  "catch_clause",
  "switch_section",
  "switch_expression_arm",
]);

export function visit(node: SyntaxNode, place: Open): void {
  const { file, scope } = place;
  switch (node.type) {
    case "identifier":
      if (place.around === "argument" || place.around === HANDED) reference(node, place);
      return;
    case "member_access_expression":
      if (place.around === "argument" || place.around === HANDED) reference(node, place);
      break;
    case "assignment_expression": {
      const [left, right] = [node.field("left"), node.field("right")];
      const inner = { ...place, depth: place.depth + 1 };
      if (left && place.depth < MAX_DEPTH) visit(left, { ...inner, around: node.type });
      if (right && place.depth < MAX_DEPTH) visit(right, { ...inner, around: HANDED });
      return;
    }
    case "comment":
    case "string_literal":
    case "integer_literal":
    case "predefined_type":
    case "modifier":
      return;
    case "using_directive":
      usingDirective(node, place);
      return;
    case "namespace_declaration":
    case "file_scoped_namespace_declaration":
      namespace(node, place);
      return;
    case "class_declaration":
    case "struct_declaration":
    case "interface_declaration":
    case "record_declaration":
    case "enum_declaration":
    case "delegate_declaration":
      typeDeclaration(node, place);
      return;
    case "constructor_declaration":
      // What a construction hands over is known by the class.
      if (scope.own) handsOver(node, scope.own.line, place);
      functionLike(node, place);
      return;
    case "method_declaration":
    case "destructor_declaration":
    case "operator_declaration":
    case "conversion_operator_declaration":
    case "indexer_declaration":
    case "lambda_expression":
    case "anonymous_method_expression":
      functionLike(node, place);
      return;
    case "local_function_statement": {
      const name = node.field("name");
      if (name) for (const key of keysOf(node, name.text)) file.bindOnce(scope, key, name.row + 1);
      returned(node, place);
      if (name) handsOver(node, name.row + 1, place);
      functionLike(node, place);
      return;
    }
    case "accessor_declaration":
    case "property_declaration":
    case "event_declaration": {
      const inner = { ...place, scope: file.inner(scope, node.field("name")?.text) };
      // The value that is set.
      file.bind(inner.scope, "value", { is: "variable" });
      children(node, inner);
      return;
    }
    case "invocation_expression": {
      const called = calledIn(node, place);
      if (called && called.name.text !== "nameof")
        file.use("call", called.name.text, called.name.row + 1, scope, called.of);
      break;
    }
    case "object_creation_expression": {
      const type = node.field("type");
      const name = type && lastOf(type);
      if (type && name?.type === "identifier")
        file.use("construct", name.text, name.row + 1, scope, typeOf(type, place));
      break;
    }
    case "prefix_unary_expression":
      if (node.tree.text[node.start] === TAG) componentTag(node, place);
      break;
    case "attribute": {
      const name = node.field("name");
      if (name?.type === "identifier") attribute(name, place);
      break;
    }
  }
  const inner = BLOCKS.has(node.type) ? { ...place, scope: file.inner(scope, undefined) } : place;
  bindNamed(node, inner);
  children(node, inner);
}

/** The class of an attribute: its name may be written without its ending. */
function attribute(node: SyntaxNode, { file, scope, names }: Open): void {
  const name = node.text.endsWith("Attribute") ? node.text : `${node.text}Attribute`;
  const of: Expression = { is: "name", name, scope, otherwise: { is: "import", module: names.namespace, name } };
  file.use("decorator", name, node.row + 1, scope, of);
}

function usingDirective(node: SyntaxNode, { file, usings, names }: Open): void {
  const alias = node.field("name");
  const path = node.namedChildren.findLast(({ id, type }) => id !== alias?.id && /name$|identifier$/.test(type));
  if (!path) return;
  const full = path.text.replace("global::", "");
  const end = full.lastIndexOf(".");
  const [module, name] = [full.slice(0, Math.max(0, end)), full.slice(end + 1)];
  const isOfType = alias !== undefined || node.children.some(({ type }) => type === "static");
  file.imports(isOfType ? module : full, node.row + 1, isOfType ? name : "*");
  // An alias of a generic type is not followed.
  if (alias && !full.includes("<")) file.bind(names.scope, alias.text, { is: "import", module, name });
  else if (isOfType && !alias && names.statics.length < MAX_STATICS) names.statics.push({ is: "import", module, name });
  else if (!isOfType) {
    if (node.children.some(({ type }) => type === "global")) file.star(GLOBAL_USING + full);
    usings.push(...[...around(names.namespace), ""].map((each) => (each === "" ? full : `${each}.${full}`)));
  }
}

/** A namespace and those around it, the innermost one first. */
function around(namespace: string): string[] {
  const parts = namespace === "" ? [] : namespace.split(".").slice(0, MAX_NAMESPACES);
  return parts.map((_, i) => parts.slice(0, parts.length - i).join("."));
}

/** The first namespace of a file is its package; types of further ones are known in the file only. */
function namespace(node: SyntaxNode, place: Open): void {
  const { file, names } = place;
  const outer = { ...names };
  const own = node.field("name")?.text ?? "";
  names.namespace = outer.namespace === "" ? own : `${outer.namespace}.${own}`;
  const first = file.top.names.get(PACKAGE);
  if (!first) file.bind(file.top, PACKAGE, { is: "import", module: names.namespace, name: "*" });
  const isFirst = !first || (first.is === "import" && first.module === names.namespace);
  names.scope = isFirst ? file.top : file.inner(outer.scope, undefined);
  const body = node.field("body");
  if (!body) return;
  children(body, { ...place, scope: names.scope });
  Object.assign(names, outer);
}

function typeDeclaration(node: SyntaxNode, place: Open): void {
  const { file, scope } = place;
  const name = node.field("name");
  if (!name) return;
  const line = name.row + 1;
  const parameters = node.childOfType("type_parameter_list")?.namedChildren.length ?? 0;
  const key = typeKey(name.text, parameters);
  // A nested type is bound with the members of its class.
  const isNested = scope.own !== undefined;
  const isPartial = node.namedChildren.some(({ type, text }) => type === "modifier" && text === "partial");
  if (!isNested) {
    file.bindOnce(scope, key, line);
    if (isPartial) file.bindOnce(scope, partialKey(key), line);
  }
  const opened = file.openClass(line);
  const inner = { ...place, scope: file.inner(scope, name.text, opened), isPartial };
  typeParameters(node, inner, name.text);
  if (parameters > 0) file.declaresTypes(opened, name.text);
  for (const each of node.namedChildren) {
    if (each.type === "attribute_list") visit(each, place);
    if (each.type === "base_list") heritage(each, opened, inner);
    if (each.type === "parameter_list") {
      children(each, inner);
      for (const own of each.namedChildren) property(own, opened, inner);
    }
  }
  const body = node.field("body");
  if (body) classBody(body, opened, inner);
}

function heritage(node: SyntaxNode, opened: OpenClass, place: Open): void {
  const { file, scope } = place;
  for (const each of node.namedChildren) {
    if (each.type === "argument_list" || each.type === "comment") continue;
    const type = each.field("type") ?? each;
    // What a class inherits from is none of its own members.
    const of = typeOf(type, { ...place, isPartial: false });
    const name = lastOf(type);
    if (name.type === "identifier") file.use("inherit", name.text, name.row + 1, scope, of);
    if (opened.bases.length === 0) opened.superclass = of;
    opened.bases.push(of);
    const generic = type.type === "qualified_name" ? type.field("name") : type;
    for (const [at, own] of (generic?.childOfType("type_argument_list")?.namedChildren ?? []).entries())
      file.gives(opened, name.text, at, own.row + 1, typeOf(own, place));
    if (type.id !== each.id) children(each, place);
  }
}

/** Members with regard to the branches of `#if`. Members are bound in the class's scope too. */
export function classBody(body: SyntaxNode, opened: OpenClass, place: Open): void {
  const members = membersOf(body);
  for (const member of members) declareMember(member, opened, place);
  for (const member of members)
    if (member.type === "field_declaration" || member.type === "event_field_declaration") {
      for (const each of member.childOfType("variable_declaration")?.namedChildren ?? [])
        if (each.type === "variable_declarator") children(each, place);
      for (const each of member.namedChildren) if (each.type === "attribute_list") visit(each, place);
    } else visit(member, place);
}

function membersOf(body: SyntaxNode, depth = 0): SyntaxNode[] {
  return body.namedChildren.flatMap((each) =>
    each.type.startsWith("preproc_") && depth < MAX_DEPTH / 10 ? membersOf(each, depth + 1) : [each],
  );
}

function declareMember(node: SyntaxNode, opened: OpenClass, place: Open): void {
  const { file, scope } = place;
  const name = node.field("name");
  switch (node.type) {
    case "field_declaration":
    case "event_field_declaration": {
      const declaration = node.childOfType("variable_declaration");
      if (!declaration) return;
      for (const each of declaration.namedChildren)
        if (each.type === "variable_declarator") property(each, opened, place, declared(declaration, place));
      return;
    }
    case "property_declaration":
      property(node, opened, place);
      return;
    case "method_declaration":
      if (!name || node.childOfType("explicit_interface_specifier")) return;
      for (const key of keysOf(node, name.text)) {
        const overload = { line: name.row + 1, takes: takes(0, ANY_NUMBER) };
        file.memberFunction(opened, key, overload);
        file.bindOverload(scope, key, overload);
      }
      extension(node, name, place);
      returned(node, place);
      handsOver(node, name.row + 1, place);
      return;
    case "enum_member_declaration":
      if (name) file.member(opened, name.text, name.row + 1, { is: "class", line: opened.line });
      return;
    case "class_declaration":
    case "struct_declaration":
    case "interface_declaration":
    case "record_declaration":
    case "enum_declaration":
    case "delegate_declaration": {
      if (!name) return;
      const key = typeKey(name.text, node.childOfType("type_parameter_list")?.namedChildren.length ?? 0);
      file.memberOnce(opened, key, name.row + 1);
      file.bindOnce(scope, key, name.row + 1);
    }
  }
}

export function property(node: SyntaxNode, opened: OpenClass, place: Open, type = declared(node, place)): void {
  const name = node.field("name");
  if (!name || node.childOfType("explicit_interface_specifier")) return;
  const { file, scope } = place;
  file.member(opened, name.text, name.row + 1, type);
  file.bind(scope, name.text, { is: "variable", type });
}

/** Methods, constructors, local functions and lambdas. */
function functionLike(node: SyntaxNode, place: Open): void {
  const { file, scope } = place;
  const isLambda = node.type === "lambda_expression" || node.type === "anonymous_method_expression";
  const inner = { ...place, scope: file.inner(scope, isLambda ? undefined : node.field("name")?.text) };
  typeParameters(node, inner);
  const handed = (at: number) => (isLambda ? handedTo(node, at, place) : undefined);
  const list = node.field("parameters");
  if (list?.type === "implicit_parameter" || list?.type === "identifier")
    file.bind(inner.scope, list.text, { is: "variable", value: handed(0) });
  for (const name of list?.fields("name") ?? []) file.bind(inner.scope, name.text, { is: "variable" });
  const parameters = list?.namedChildren.filter(({ type }) => type === "parameter") ?? [];
  for (const [at, each] of parameters.entries()) {
    const name = each.field("name");
    const type = declared(each, inner);
    if (name) file.bind(inner.scope, name.text, { is: "variable", ...(type ? { type } : { value: handed(at) }) });
  }
  children(node, inner);
}
