import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { wordSet } from "../../lib/word-set.ts";
import { declared, isAfterMacro } from "./declarators.ts";
import { type Expression, type Scope, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { nameInPackage, type Place, visitChildren } from "./walk.ts";

/**
 * Reads a C tree. What other files see of it (functions that are not static, macros, types) is exported; all files of a repository
 * are taken as one program, since only its build tells which are linked together.
 */
export function readC(root: SyntaxNode, file: FileBuilder): void {
  children(root, { file, scope: file.top, depth: 0 });
}

const children = (node: SyntaxNode, place: Place): void => visitChildren(node, place, visit);

const STRUCTURE = /^(?:struct|union)_specifier$/;

function visit(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  switch (node.type) {
    case "comment":
    case "preproc_arg":
      return;
    case "identifier":
      if (HOLDING.has(place.around ?? "")) reference(node, place);
      return;
    case "preproc_include": {
      const module = node.field("path");
      if (module) file.imports(module.text.slice(1, -1), node.row + 1);
      return;
    }
    case "preproc_function_def": {
      const name = node.field("name");
      if (name) define(name, file, true);
      return;
    }
    case "function_definition":
      functionDefinition(node, place);
      return;
    case "struct_specifier":
    case "union_specifier":
      structure(node, place);
      return;
    case "type_definition":
      typeDefinition(node, place);
      return;
    case "declaration":
      declaration(node, place);
      break;
    case "call_expression": {
      const called = node.field("function");
      if (called) use(called, place);
      break;
    }
  }
  if (node.type === "compound_statement" || node.type === "for_statement")
    children(node, { ...place, scope: file.inner(scope, undefined) });
  else children(node, place);
}

function use(node: SyntaxNode, { file, scope }: Place): void {
  const named = node.type === "field_expression" ? node.field("field") : node;
  if (named?.type.endsWith("identifier")) file.use("call", named.text, named.row + 1, scope, expressionOf(node, scope));
}

/** What a function may be handed to or kept in: an identifier in it is a value. */
const HOLDING = wordSet(
  `argument_list initializer_list initializer_pair init_declarator assignment_expression return_statement
   pointer_expression cast_expression parenthesized_expression conditional_expression`,
);

/** A function that is handed over or kept. By custom, names without a small letter are of constants. */
function reference(node: SyntaxNode, { file, scope }: Place): void {
  const { text } = node;
  if (/^\w+$/.test(text) && /[a-z]/.test(text)) file.reference(text, node.row + 1, scope, expressionOf(node, scope));
}

/** A second definition is one of another branch of `#if`: which one counts depends on the build. */
function define(name: SyntaxNode, file: FileBuilder, isExported: boolean): void {
  file.bindOnce(file.top, name.text, name.row + 1);
  if (isExported) file.exportAs(name.text, { is: "name", name: name.text, scope: file.top });
}

function functionDefinition(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const found = declared(node.field("declarator"));
  const isStatic = node.namedChildren.some(({ type, text }) => type === "storage_class_specifier" && text === "static");
  const isHidden = isStatic && !/\binline\b/.test(headOf(node));
  const inner = { ...place, scope: file.inner(scope, found?.name.text) };
  if (found) {
    define(found.name, file, !isHidden);
    const type = node.field("type");
    if (type) file.returns(found.name.row + 1, typeOf(type, scope));
  }
  parameters(node.field("declarator"), inner);
  const type = node.field("type");
  if (type) visit(type, place);
  const body = node.field("body");
  if (body) children(body, inner);
}

const headOf = (node: SyntaxNode): string => node.tree.text.slice(node.start, node.start + 80);

function parameters(declarator: SyntaxNode | undefined, { file, scope }: Place): void {
  let at = declarator;
  for (let depth = 0; at && at.type !== "function_declarator" && depth < MAX_EXPRESSION_DEPTH; depth++)
    at = at.field("declarator");
  for (const each of at?.field("parameters")?.namedChildren ?? []) {
    const found = declared(each.field("declarator"));
    const type = each.field("type");
    if (found) file.bind(scope, found.name.text, { is: "variable", type: type && typeOf(type, scope.outer ?? scope) });
  }
}

function declaration(node: SyntaxNode, { file, scope }: Place): void {
  const type = node.field("type");
  if (scope !== file.top && isAfterMacro(node)) {
    const found = declared(node.field("declarator"));
    const { name } = found?.function ? found : {};
    if (name) file.use("call", name.text, name.row + 1, scope, expressionOf(name, scope));
    return;
  }
  for (const each of node.fields("declarator")) {
    const found = declared(each.type === "init_declarator" ? each.field("declarator") : each);
    // A prototype says nothing of where the function is.
    if (!found || found.function) continue;
    const top = scope === file.top ? found.name.row + 1 : undefined;
    const known = type && !found.isArray ? typeOf(type, scope) : undefined;
    // Several declarations of a variable are one.
    if (top === undefined || !scope.names.has(found.name.text))
      file.bind(scope, found.name.text, { is: "variable", line: top, type: known });
  }
}

/** A structure is known by its tag, which is apart from other names: `struct s`. */
function structure(node: SyntaxNode, place: Place, alias?: SyntaxNode): void {
  const { file } = place;
  const tag = node.field("name");
  const body = node.field("body");
  const name = tag ?? alias;
  if (!body || !name) return;
  const opened = file.openClass(name.row + 1);
  if (tag) {
    file.bindOnce(file.top, `struct ${tag.text}`, tag.row + 1);
    file.exportAs(`struct ${tag.text}`, { is: "name", name: `struct ${tag.text}`, scope: file.top });
  }
  for (const field of body.namedChildren) {
    const type = field.field("type");
    if (type) visit(type, place);
    for (const each of field.fields("declarator")) {
      const found = declared(each);
      if (found)
        file.member(
          opened,
          found.name.text,
          found.name.row + 1,
          type && !found.isArray ? typeOf(type, file.top) : UNKNOWN,
        );
    }
  }
}

function typeDefinition(node: SyntaxNode, place: Place): void {
  const { file } = place;
  const type = node.field("type");
  const name = declared(node.field("declarator"))?.name;
  if (!type || !name) return;
  const isStructure = STRUCTURE.test(type.type);
  if (isStructure) structure(type, place, name);
  // A structure without a tag is known by this name alone.
  if (isStructure && !type.field("name")) file.bindOnce(file.top, name.text, name.row + 1);
  else file.bind(file.top, name.text, { is: "alias", of: typeOf(type, file.top) });
  file.exportAs(name.text, { is: "name", name: name.text, scope: file.top });
}

const structureNamed = (tag: string, scope: Scope): Expression => nameInPackage(`struct ${tag}`, scope);

function expressionOf(node: SyntaxNode, scope: Scope, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "identifier":
      return nameInPackage(node.text, scope);
    case "field_expression": {
      const [of, field] = [node.field("argument"), node.field("field")];
      return of && field ? { is: "member", of: expressionOf(of, scope, depth + 1), name: field.text } : UNKNOWN;
    }
    case "call_expression": {
      const called = node.field("function");
      return called ? { is: "call", of: expressionOf(called, scope, depth + 1) } : UNKNOWN;
    }
    case "parenthesized_expression":
    case "pointer_expression": {
      const child = node.field("argument") ?? node.namedChild(0);
      return child ? expressionOf(child, scope, depth + 1) : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}

function typeOf(node: SyntaxNode, scope: Scope): Expression {
  const tag = STRUCTURE.test(node.type) ? node.field("name") : undefined;
  if (tag) return structureNamed(tag.text, scope);
  return node.type === "type_identifier" ? nameInPackage(node.text, scope) : UNKNOWN;
}
