import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { wordSet } from "../../lib/word-set.ts";
import { bindVariable, handedTo, isInBlock, share, structuredIn, typeOfDeclared, within } from "./cpp-bindings.ts";
import { declared, isAfterMacro, lastNameOf } from "./declarators.ts";
import { argumentsOf, takesOf } from "./cpp-arguments.ts";
import { type Around, expressionOf, named, nameOf, typeOf } from "./cpp-expressions.ts";
import { type Expression, givenOr, type OpenClass, type Scope, stepInto, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { declaredKey, exactName } from "./program.ts";
import { type Place as BasePlace, visitChildren } from "./walk.ts";
import { ITERATED } from "./wrapped.ts";

/** Reads a C++ tree. Names that other files see are bound and exported under their full paths: `a::b::Class::method`. */
export function readCpp(root: SyntaxNode, file: FileBuilder): void {
  children(root, { file, scope: blockIn("", file), context: "", opened: undefined, isHidden: false, depth: 0 });
}

interface Place extends BasePlace, Around {
  /** Class whose body this is. */
  opened: OpenClass | undefined;
  /** A class here is a template. */
  isTemplate?: boolean;
  /** Names here are those of the file only. */
  isHidden: boolean;
}

const CLASS = /^(?:class|struct|union)_specifier$/;

const children = (node: SyntaxNode, place: Place): void => visitChildren(node, place, visit);

/** A scope of blocks: names outside of blocks are not looked up in it. */
const blockIn = (context: string, file: FileBuilder): Scope =>
  file.inner(
    { outer: undefined, names: new Map(), own: undefined, path: null },
    context === "" ? undefined : context.replaceAll("::", "."),
  );

function visit(node: SyntaxNode, place: Place): void {
  const { file, scope, context } = place;
  switch (node.type) {
    case "comment":
    case "preproc_arg":
      return;
    case "identifier":
    case "qualified_identifier":
      if (HOLDING.has(place.around ?? "")) reference(node, place);
      return;
    case "friend_declaration": {
      // A friend that is defined in a class is a function of the namespace around it.
      const end = context.lastIndexOf("::");
      const inner = { ...place, opened: undefined, context: end < 0 ? "" : context.slice(0, end) };
      for (const child of node.namedChildren) if (child.type === "function_definition") visit(child, inner);
      return;
    }
    case "preproc_include": {
      const module = node.field("path");
      if (module) file.imports(module.text.slice(1, -1), node.row + 1);
      return;
    }
    case "preproc_function_def": {
      const name = node.field("name");
      if (name)
        defineFunction(name.text, name.row + 1, takesOf(node.field("parameters")), { ...place, isHidden: false });
      return;
    }
    case "namespace_definition": {
      const name = nameOf(node.field("name"));
      const inner = name === undefined ? context : within(context, name);
      const body = node.field("body");
      const isHidden = place.isHidden || name === undefined;
      if (body) children(body, { ...place, context: inner, scope: blockIn(inner, file), isHidden });
      return;
    }
    case "class_specifier":
    case "struct_specifier":
    case "union_specifier":
      classSpecifier(node, place);
      return;
    case "template_declaration": {
      const inner = { ...place, scope: file.inner(scope, undefined) };
      const owner = nameOf(node.namedChildren.find(({ type }) => CLASS.test(type))?.field("name"));
      for (const [at, each] of (node.field("parameters")?.namedChildren ?? []).entries()) {
        const name = each.field("name") ?? each.namedChildren.findLast(({ type }) => type.endsWith("identifier"));
        const given = owner === undefined ? undefined : givenOr(owner, at, UNKNOWN);
        if (name) file.bind(inner.scope, name.text, given ? { is: "alias", of: given } : { is: "variable" });
      }
      children(node, { ...inner, isTemplate: owner !== undefined });
      return;
    }
    case "using_declaration":
      usingDeclaration(node, place);
      return;
    case "alias_declaration":
      alias(node.field("name"), node.field("type"), place);
      return;
    case "type_definition": {
      const type = node.field("type");
      if (type) visit(type, place);
      alias(node.field("declarator"), type, place);
      return;
    }
    case "function_definition":
      functionDefinition(node, place);
      return;
    case "field_declaration":
    case "declaration":
      declaration(node, place);
      return;
    case "lambda_expression":
    case "compound_statement":
    case "for_statement":
    case "if_statement":
    case "while_statement":
    case "catch_clause":
      block(node, place);
      return;
    case "for_range_loop": {
      const inner = { ...place, scope: file.inner(scope, undefined) };
      const of = expressionOf(node.field("right"), inner);
      const element: Expression = stepInto(of, ITERATED);
      bindVariable(node.field("declarator"), node.field("type"), undefined, inner, element);
      children(node, inner);
      return;
    }
    case "parameter_declaration": {
      const lambda = node.parent?.parent?.parent;
      const handed = lambda?.type === "lambda_expression" ? handedTo(lambda, node, place) : undefined;
      bindVariable(node.field("declarator"), node.field("type"), undefined, place, handed);
      break;
    }
    case "call_expression": {
      const called = node.field("function");
      if (called) use("call", called, place, argumentsOf(node));
      break;
    }
    case "new_expression": {
      const type = node.field("type");
      if (type) use("construct", type, place);
      break;
    }
  }
  children(node, place);
}

const block = (node: SyntaxNode, place: Place): void =>
  children(node, { ...place, scope: place.file.inner(place.scope, undefined), opened: undefined });

function use(kind: "call" | "construct" | "inherit", node: SyntaxNode, place: Place, given?: number): void {
  const name = nameOf(node.type === "field_expression" ? node.field("field") : node)
    ?.split("::")
    .at(-1);
  if (name === undefined) return;
  const of = kind === "call" ? expressionOf(node, place) : typeOf(node, place);
  const at = node.type === "field_expression" ? node.field("field") : lastNameOf(node);
  place.file.use(kind, name, (at ?? node).row + 1, place.scope, of, given);
}

/** What a function may be handed to or kept in: a name in it is a value. */
const HOLDING = wordSet(
  `argument_list initializer_list initializer_pair init_declarator assignment_expression return_statement
   pointer_expression cast_expression parenthesized_expression conditional_expression`,
);
/** Names of constants, which have no small letter, and of fields, by custom. */
const NO_FUNCTION = /^(?:[^a-z]*|m_.*|.*_)$/;

/**
 * A function that is handed over or kept. A qualified name is one behind `&` (`&Window::save`), or where it begins with a small letter: constants
 * of an enumeration have capitals.
 */
function reference(node: SyntaxNode, place: Place): void {
  const name = nameOf(node);
  const last = name?.split("::").at(-1) ?? "";
  if (name === undefined || NO_FUNCTION.test(last)) return;
  if (node.type === "qualified_identifier" && place.around !== "pointer_expression" && !/^[a-z]/.test(last)) return;
  place.file.reference(last, lastNameOf(node).row + 1, place.scope, named(name, place));
}

/** A second definition is one of another branch of `#if`, or something else: the name alone does not tell which is meant. */
function define(name: string, line: number, { file, context, isHidden }: Place): void {
  const key = within(context, name);
  file.bindOnce(file.top, key, line);
  if (!isHidden) share(key, file);
}

/** A second function is an overload, or one of another branch of `#if`. */
function defineFunction(name: string, line: number, taking: number, { file, context, isHidden }: Place): void {
  const key = within(context, name);
  file.bindFunction(file.top, key, line, taking);
  if (!isHidden) share(key, file);
}

/** Binds a name to the meaning of an expression: in the block, or in the program, where other files see it. */
function bindAlias(name: string, of: Expression, isOfBlock: boolean, { file, scope, context }: Place): void {
  if (isOfBlock) {
    file.bind(scope, name, { is: "alias", of });
    return;
  }
  const key = within(context, name);
  file.bind(file.top, key, { is: "alias", of });
  share(key, file);
}

function classSpecifier(node: SyntaxNode, place: Place): void {
  const { file, context } = place;
  const [name, body] = [nameOf(node.field("name")), node.field("body")];
  if (!body) return;
  const line = (node.field("name") ?? node).row + 1;
  const opened = file.openClass(line);
  const isSpecial = node.field("name")?.type === "template_type";
  // A specialisation is another class than the template, and is found by nobody but its own methods.
  const own = name === undefined || isSpecial ? `${name ?? ""}<${line}>` : name;
  define(own, line, isSpecial || name === undefined ? { ...place, isHidden: true } : place);
  if (place.opened && own === name) file.memberOnce(place.opened, own, line);
  if (place.isTemplate) file.declaresTypes(opened, own);
  const inner = within(context, own);
  const inside: Place = { ...place, isTemplate: false, context: inner, opened, scope: file.inner(place.scope, name) };
  for (const base of node.childOfType("base_class_clause")?.namedChildren ?? []) {
    if (base.type === "access_specifier" || base.type === "virtual") continue;
    use("inherit", base, { ...place, scope: inside.scope });
    opened.bases.push(typeOf(base, place));
  }
  children(body, inside);
}

function usingDeclaration(node: SyntaxNode, place: Place): void {
  const { file, scope, opened } = place;
  const name = nameOf(node.namedChild(0));
  if (name === undefined || opened) return;
  if (/^using\s+namespace\b/.test(node.tree.text.slice(node.start, node.start + 100))) {
    if (!isInBlock(scope)) file.star(`::${name.replace(/^::/, "")}`);
    return;
  }
  bindAlias(name.split("::").at(-1) ?? "", named(name, place), isInBlock(scope), place);
}

function alias(declared: SyntaxNode | undefined, type: SyntaxNode | undefined, place: Place): void {
  const name = nameOf(declared);
  if (name === undefined || !type) return;
  const isNameless = CLASS.test(type.type) && !type.field("name");
  if (isNameless || typeName(type) === name) return;
  bindAlias(name, typeOf(type, place), isInBlock(place.scope) && !place.opened, place);
}

const typeName = (type: SyntaxNode): string | undefined =>
  nameOf(type.type === "type_descriptor" ? type.field("type") : type);

function functionDefinition(node: SyntaxNode, place: Place): void {
  const { file, context, opened } = place;
  const found = declared(node.field("declarator"));
  const written = nameOf(found?.name);
  const name = written?.replace(/^::/, "");
  const line = (found ? lastNameOf(found.name) : node).row + 1;
  const isStatic = node.namedChildren.some(({ type, text }) => type === "storage_class_specifier" && text === "static");
  // The name of a class is the class itself inside of it, not its constructor.
  const isConstructor = !node.field("type") && (opened !== undefined || /^(?:.*::)?(\w+)::\1$/.test(name ?? ""));
  if (name !== undefined && !isConstructor) {
    const taking = takesOf(found?.function?.field("parameters"));
    const isHidden = place.isHidden || (isStatic && !name.includes("::"));
    if (opened) file.memberFunction(opened, name, { line, takes: taking });
    else defineFunction(name, line, taking, { ...place, isHidden });
  }
  // The body of a method stands in its class, wherever it is written.
  const owner = !opened && name?.includes("::") === true ? name.slice(0, name.lastIndexOf("::")) : undefined;
  const around = owner === undefined ? context : within(context, owner);
  const inner: Place = {
    ...place,
    context: around,
    opened: undefined,
    scope: file.inner(place.scope, name?.replaceAll("::", ".")),
  };
  if (opened) file.bind(inner.scope, "this", { is: "alias", of: { is: "class", line: opened.line } });
  else if (owner !== undefined) file.bind(inner.scope, "this", { is: "alias", of: exactName(around) });
  const type = node.field("type");
  if (type && name !== undefined) file.returns(line, typeOf(type, inner));
  parameters(found?.function, inner);
  for (const child of node.namedChildren)
    if (
      child.type === "field_initializer_list" ||
      child.type === "compound_statement" ||
      child.type === "try_statement"
    )
      children(child, inner);
}

function parameters(declarator: SyntaxNode | undefined, place: Place): void {
  for (const each of declarator?.field("parameters")?.namedChildren ?? []) {
    bindVariable(each.field("declarator"), each.field("type"), undefined, place);
    const value = each.field("default_value");
    if (value) visit(value, place);
  }
}

function declaration(node: SyntaxNode, place: Place): void {
  const { file, opened } = place;
  const type = node.field("type");
  if (isInBlock(place.scope) && !opened) {
    if (isAfterMacro(node)) return calledAfterMacro(node, place);
    constructions(node, type, place);
  }
  if (type) visit(type, place);
  for (const each of node.fields("declarator")) {
    const declarator = each.type === "init_declarator" ? each.field("declarator") : each;
    const found = declared(declarator);
    const name = nameOf(found?.name);
    const line = (found ? lastNameOf(found.name) : each).row + 1;
    if (found?.function && name !== undefined) {
      // A prototype says nothing of where the function is; that of a method leads to its definition.
      if (!opened || !type) continue;
      const taking = takesOf(found.function.field("parameters"));
      file.memberFunction(opened, declaredKey(name), { line, takes: taking }, exactName(within(place.context, name)));
      file.returns(line, typeOf(type, place));
      continue;
    }
    if (!declarator || (name === undefined && !structuredIn(declarator))) continue;
    const value = each.field("value") ?? node.field("value");
    if (declarator !== each)
      // The name that is declared is no value.
      for (const child of each.namedChildren)
        if (child.type !== "identifier" || child.id === value?.id)
          visit(child, { ...place, depth: place.depth + 1, around: each.type });
    if (!opened) bindVariable(declarator, type, value, place);
    else if (name !== undefined) file.member(opened, name, line, typeOfDeclared(found, type, place));
  }
  const value = node.field("value") ?? node.field("default_value");
  if (value) visit(value, place);
}

function calledAfterMacro(node: SyntaxNode, place: Place): void {
  const declarator = node.field("declarator");
  const found = declared(declarator);
  const [list] = declarator?.fields("value") ?? [];
  const parameters = found?.function?.field("parameters");
  const given = (parameters ?? list)?.namedChildren.length;
  if (found && (parameters ?? (list?.type === "argument_list" ? list : undefined)))
    use("call", found.name, place, given);
  if (list) children(list, place);
}

/** `T name(1);` and `T name{1};`; the grammar reads `T name(f());` and `T name(other);` as functions, which nobody declares in a block. */
function constructions(node: SyntaxNode, type: SyntaxNode | undefined, place: Place): void {
  if (!type || !CONSTRUCTED.test(type.type)) return;
  const isOwn = !type.text.startsWith("std::");
  for (const each of node.fields("declarator")) {
    const name =
      each.type === "init_declarator" || each.type === "function_declarator" ? each.field("declarator") : undefined;
    if (name?.type !== "identifier") continue;
    const list = each.field("value") ?? each.field("parameters");
    if (!list || !/^(?:argument|initializer|parameter)_list$/.test(list.type)) continue;
    if (isOwn) use("construct", type, place);
    if (list.type !== "parameter_list") continue;
    for (const argument of list.namedChildren) {
      const called = argument.field("type");
      const declarator = argument.field("declarator");
      if (called && declarator?.type === "abstract_function_declarator") use("call", called, place);
      else if (called?.type === "type_identifier" && !declarator) reference(called, place);
    }
  }
}

const CONSTRUCTED = /^(?:type_identifier|qualified_identifier|template_type)$/;
