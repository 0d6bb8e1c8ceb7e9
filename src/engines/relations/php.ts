import { methodTags } from "../parsing/method-tags.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, guardedScope, type OpenClass, stepInto, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { MAX_DEPTH } from "./limits.ts";
import { PACKAGE } from "./packages.ts";
import { bindUnknown, bindVariables, handedTo, narrowed, narrowedAfter } from "./php-bindings.ts";
import { CALLING, functionNames, methodPair } from "./php-callables.ts";
import {
  calledIn,
  expressionOf,
  functionKey,
  isName,
  joined,
  named,
  type Names,
  type Place,
  splitName,
} from "./php-expressions.ts";
import { declaredOrStated, statedIn, statedNames, statedType } from "./php-types.ts";
import { visitChildren, visitGuarded } from "./walk.ts";
import { LIST } from "./wrapped.ts";

/**
 * Reads a PHP tree. Functions and methods are known as `name()` and properties as `$name`, since a class may have both of one name.
 * Classes that comments state (`@var`, `@param`, `@return`) count where no type is declared.
 */
export function readPhp(root: SyntaxNode, file: FileBuilder): void {
  const names: Names = { namespace: "", scope: file.top, aliases: new Map() };
  const scope = file.inner(file.top, undefined);
  children(root, { file, scope, depth: 0, names, className: "", untyped: new Set() });
  if (!file.top.names.has(PACKAGE)) file.bind(file.top, PACKAGE, { is: "import", module: "", name: "*" });
}

const children = (node: SyntaxNode, place: Place): void => visitChildren(node, place, visit);

function visit(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  switch (node.type) {
    case "comment":
      for (const [name, type] of statedNames(node, "var", place)) file.bind(scope, name, { is: "variable", type });
      return;
    case "name":
    case "qualified_name":
    case "variable_name":
    case "named_type":
    case "string":
    case "integer":
      return;
    case "namespace_definition":
      namespace(node, place);
      return;
    case "namespace_use_declaration":
      useDeclaration(node, place);
      return;
    case "class_declaration":
    case "interface_declaration":
    case "trait_declaration":
    case "enum_declaration":
      classDeclaration(node, place);
      return;
    case "function_definition": {
      const name = node.field("name");
      if (name) file.bindOnce(place.names.scope, functionKey(name.text), name.row + 1);
      functionLike(node, place);
      return;
    }
    case "anonymous_function":
    case "arrow_function":
      functionLike(node, place);
      return;
    case "object_creation_expression":
      construction(node, place);
      return;
    case "attribute": {
      const name = node.namedChildren.find(isName);
      if (name) file.use("decorator", splitName(name.text).name, name.row + 1, scope, named(name.text, place));
      break;
    }
    case "function_call_expression":
    case "member_call_expression":
    case "nullsafe_member_call_expression":
    case "scoped_call_expression": {
      const called = calledIn(node, place);
      if (called) file.use("call", called.name, called.row + 1, scope, called.of);
      if (called && CALLING.test(called.name)) functionNames(node, place);
      break;
    }
    case "compound_statement":
    case "program":
      statements(node, place);
      return;
    case "if_statement":
    case "else_if_clause":
    case "conditional_expression": {
      const [condition, guarded] = node.namedChildren;
      visitGuarded(node, place, guarded, narrowed(condition, place), visit);
      return;
    }
    case "binary_expression": {
      const isConjunction = /^(?:&&|and)$/.test(node.children[1]?.type ?? "");
      const types = isConjunction ? narrowed(node.namedChild(0), place) : [];
      visitGuarded(node, place, node.namedChildren.at(-1), types, visit);
      return;
    }
    case "return_statement": {
      const value = node.namedChild(0);
      if (value) place.results?.push(expressionOf(value, place));
      break;
    }
    case "yield_expression": {
      const value = node.namedChildren.at(-1)?.namedChildren.at(-1);
      if (value) place.yields?.push(expressionOf(value, place));
      break;
    }
    case "array_creation_expression":
      methodPair(node, place);
      break;
    case "require_expression":
    case "require_once_expression":
    case "include_expression":
    case "include_once_expression": {
      const path = /(?<=["'])\.{0,2}\/?[\w./-]+\.\w+(?=["']\s*\)?$)/.exec(node.text.slice(0, 300))?.[0];
      if (path !== undefined) file.imports(path.startsWith("/") ? `.${path}` : path, node.row + 1);
      break;
    }
    default:
      bindVariables(node, place);
  }
  children(node, place);
}

/** Visits statements in order: after `if (!$x instanceof T) return;`, `$x` is a `T`. */
function statements(node: SyntaxNode, place: Place): void {
  if (place.depth >= MAX_DEPTH) return;
  const inner: Place = { ...place, depth: place.depth + 1, around: node.type };
  let guards = 0;
  for (const each of node.namedChildren) {
    visit(each, inner);
    const types = guards < MAX_GUARDS ? narrowedAfter(each, inner) : [];
    if (types.length === 0) continue;
    guards++;
    inner.scope = guardedScope(inner.scope, types);
  }
}

/** Conditions of one block, one after the other, that narrow types behind them. */
const MAX_GUARDS = 20;

/** The first namespace of a file is its package; names of further ones are known in the file only. */
function namespace(node: SyntaxNode, place: Place): void {
  const { file, names } = place;
  const isFirst = !file.top.names.has(PACKAGE);
  names.namespace = node.field("name")?.text ?? "";
  names.aliases.clear();
  names.scope = isFirst ? file.top : file.inner(file.top, undefined);
  if (isFirst) {
    file.bind(file.top, PACKAGE, { is: "import", module: names.namespace, name: "*" });
    // A function that the namespace does not have is a global one.
    if (names.namespace !== "") file.star("");
  }
  const body = node.field("body");
  if (body) children(body, place);
}

function useDeclaration(node: SyntaxNode, place: Place): void {
  const group = node.field("body");
  const prefix = group ? (node.childOfType("namespace_name")?.text ?? "") : "";
  const keyword = kindOfUse(node);
  for (const clause of (group ?? node).namedChildren) {
    if (clause.type !== "namespace_use_clause") continue;
    const kind = kindOfUse(clause) ?? keyword;
    const path = clause.namedChildren.find(isName)?.text.replace(/^\\/, "");
    if (path === undefined || kind === "const") continue;
    const { file, names } = place;
    const { module, name } = splitName(joined(prefix, path));
    const keyOf = kind === "function" ? functionKey : (own: string) => own;
    const alias = keyOf(clause.field("alias")?.text ?? name);
    file.imports(module, clause.row + 1, name);
    file.bind(names.scope, alias, { is: "import", module, name: keyOf(name) });
    if (kind === undefined) names.aliases.set(alias, joined(module, name));
  }
}

function kindOfUse(node: SyntaxNode): "function" | "const" | undefined {
  for (const { type } of node.children) if (type === "function" || type === "const") return type;
  return undefined;
}

function classDeclaration(node: SyntaxNode, place: Place): void {
  const { file, scope, names } = place;
  const name = node.field("name");
  if (!name) return;
  const line = name.row + 1;
  file.bindOnce(names.scope, name.text, line);
  const opened = file.openClass(line);
  const inner = { ...place, scope: file.inner(scope, name.text, opened), className: name.text };
  classBody(node, opened, inner);
  declareDocumented(node, opened, inner);
}

/** Methods that the documentation of a class declares, except for those that it has. */
function declareDocumented(node: SyntaxNode, opened: OpenClass, place: Place): void {
  const { text } = node.tree;
  let line = node.row + 1;
  let end = node.start;
  for (const tag of methodTags(text, node.start).toReversed()) {
    line -= text.slice(tag.start, end).split("\n").length - 1;
    end = tag.start;
    if (opened.members.has(functionKey(tag.name))) continue;
    place.file.member(opened, functionKey(tag.name), line);
    const returned = tag.type === "" ? undefined : statedType(tag.type, place);
    if (returned) place.file.returns(line, returned);
  }
}

/** What a class of its own name or none declares; `place` is inside of it. */
function classBody(node: SyntaxNode, opened: OpenClass, place: Place): void {
  const { file, scope } = place;
  const inner = { ...place, untyped: new Set<string>() };
  const clauses = node.namedChildren.filter(({ type }) => /^(?:base_clause|class_interface_clause)$/.test(type));
  const body = node.field("body");
  // Methods of traits come before inherited ones.
  const traits = (body?.namedChildren ?? []).filter(({ type }) => type === "use_declaration");
  for (const clause of [...traits, ...clauses])
    for (const base of clause.namedChildren.filter(isName)) {
      const of = named(base.text, place);
      file.use("inherit", splitName(base.text).name, base.row + 1, scope, of);
      opened.bases.push(of);
      if (clause.type === "base_clause") opened.superclass = of;
    }
  for (const each of node.namedChildren) if (each.type === "attribute_list") visit(each, place);
  if (!body) return;
  let comment: SyntaxNode | undefined;
  for (const member of body.namedChildren) {
    // An abstract method of a trait does not hide the inherited one.
    const isOpen = node.type === "trait_declaration" && member.childOfType("abstract_modifier") !== undefined;
    if (member.type !== "comment" && !isOpen) declareMember(member, comment, opened, inner);
    comment = member.type === "comment" ? member : undefined;
  }
  comment = undefined;
  for (const member of body.namedChildren) {
    if (member.type === "method_declaration") functionLike(member, inner, comment);
    else if (member.type !== "use_declaration") visit(member, inner);
    comment = member.type === "comment" ? member : undefined;
  }
}

function declareMember(node: SyntaxNode, comment: SyntaxNode | undefined, opened: OpenClass, place: Place): void {
  const { file } = place;
  const name = node.field("name");
  switch (node.type) {
    case "property_declaration": {
      const type = declaredOrStated(node.field("type"), statedIn(comment, "var", place), place);
      for (const each of node.namedChildren)
        if (each.type === "property_element") declareProperty(each, type, opened, place);
      return;
    }
    case "method_declaration": {
      if (!name) return;
      file.memberOnce(opened, functionKey(name.text), name.row + 1);
      const returned = declaredOrStated(node.field("return_type"), statedIn(comment, "return", place), place);
      if (returned) file.returns(name.row + 1, returned);
      if (name.text !== "__construct") return;
      const stated = statedNames(comment, "param", place);
      for (const each of node.field("parameters")?.namedChildren ?? [])
        if (each.type === "property_promotion_parameter") {
          const own = stated.get(each.field("name")?.text ?? "");
          declareProperty(each, declaredOrStated(each.field("type"), own, place), opened, place);
        }
      return;
    }
    case "enum_case":
      if (name) file.member(opened, name.text, name.row + 1, { is: "class", line: opened.line });
      return;
    case "const_declaration":
      for (const each of node.namedChildren)
        if (each.type === "const_element") file.member(opened, each.namedChild(0)?.text ?? "", each.row + 1);
  }
}

function declareProperty(
  node: SyntaxNode,
  type: Expression | undefined,
  opened: OpenClass,
  { file, untyped }: Place,
): void {
  const name = node.field("name");
  if (!name) return;
  file.member(opened, name.text, name.row + 1, type);
  if (!type) untyped.add(name.text);
}

/** Functions, methods and closures; `comment` is the one before it. */
function functionLike(node: SyntaxNode, place: Place, comment?: SyntaxNode): void {
  const { file, scope } = place;
  const name = node.field("name");
  const inner = { ...place, scope: file.inner(scope, name?.text) };
  const stated = statedNames(comment, "param", place);
  const isClosure = node.type === "anonymous_function" || node.type === "arrow_function";
  for (const each of node.namedChildren) if (each.type === "attribute_list") visit(each, place);
  for (const [at, each] of (node.field("parameters")?.namedChildren ?? []).entries()) {
    const own = each.field("name");
    if (!own) continue;
    const type = declaredOrStated(each.field("type"), stated.get(own.text), place);
    const isMany = each.type === "variadic_parameter";
    const many: Expression | undefined =
      type && type.is !== "unknown" ? { is: "member", of: type, name: LIST } : UNKNOWN;
    const value = isClosure && !type ? handedTo(node, at, place) : undefined;
    file.bind(inner.scope, own.text, { is: "variable", type: isMany ? many : type, ...(value && { value }) });
    children(each, inner);
  }
  const isNamed = name !== undefined && !isClosure;
  const returned = isNamed && declaredOrStated(node.field("return_type"), statedIn(comment, "return", place), place);
  if (returned && node.type === "function_definition") file.returns(name.row + 1, returned);
  // A closure may assign to what it takes by reference.
  for (const each of node.childOfType("anonymous_function_use_clause")?.namedChildren ?? [])
    if (each.type === "by_ref") bindUnknown(each, place);
  const body = node.field("body");
  const [results, yields]: [Expression[], Expression[]] = [[], []];
  if (body) visit(body, { ...inner, results, yields });
  const listed = yields.map((of) => stepInto(of, LIST));
  if (isNamed && !returned) file.returnsValues(name.row + 1, yields.length > 0 ? listed : results);
}

function construction(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  if (place.depth >= MAX_DEPTH) return;
  const made = node.namedChildren.find(isName);
  if (made) {
    const name = /^(?:self|static)$/i.test(made.text) ? place.className : splitName(made.text).name;
    file.use("construct", name, made.row + 1, scope, named(made.text, place));
  }
  const inner = { ...place, depth: place.depth + 1 };
  for (const each of node.namedChildren) {
    if (each.type !== "anonymous_class") {
      visit(each, inner);
      continue;
    }
    const args = each.childOfType("arguments");
    if (args) children(args, inner);
    const opened = file.openClass(each.row + 1);
    classBody(each, opened, { ...inner, scope: file.inner(scope, undefined, opened), className: "" });
  }
}
