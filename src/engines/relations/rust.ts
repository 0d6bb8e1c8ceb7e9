import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, lookUp, NOTHING, type OpenClass, type Scope } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { MAX_DEPTH } from "./limits.ts";
import { attributeUses } from "./rust-attributes.ts";
import {
  calledOf,
  expressionOf,
  partsFromFile,
  pathExpression,
  pathParts,
  typeArguments,
  typeOf,
} from "./rust-expressions.ts";
import { type ImportedName, importedNames } from "./rust-imports.ts";
import { declareMacro, macroBodies, macroCalls } from "./rust-macros.ts";
import { fieldKey, MODULE_MARK, moduleKey, SELF_TYPE } from "./rust-keys.ts";
import { assigned, bindPattern, type Known, matchedBy, ofType, pushed, stepOf, valueOf } from "./rust-patterns.ts";
import {
  givenParameters,
  handedTo,
  handsToClosures,
  ownParameters,
  parameter,
  typeParameters,
} from "./rust-signatures.ts";
import { type Place as BasePlace, visitChildren } from "./walk.ts";
import { ITERATED } from "./wrapped.ts";

/** Reads a Rust tree. */
export function readRust(root: SyntaxNode, file: FileBuilder): void {
  const place: Place = { file, scope: file.top, types: new Map(), depth: 0, begun: 0 };
  declareAll(root, place);
  children(root, place);
}

/** Types of a scope that members are added to, and those of the scopes around it. */
interface Types extends Map<string, OpenClass> {
  outer?: Types;
}

interface Place extends BasePlace {
  types: Types;
  /** Scopes that `let` has begun around here. */
  begun: number;
  /** What the `match` around looks at. */
  matched?: Known | undefined;
  /** Level of the arguments of the last method that calls what it is given. */
  adapting?: number | undefined;
}

/** `let` statements of a function that begin a scope: more are bound in one, which takes no longer to look through. */
const MAX_BEGUN = 300;

const TYPE_ITEMS = /^(?:struct|enum|union|trait)_item$/;

const children = (node: SyntaxNode, place: Place): void => visitChildren(node, place, visit);

function visit(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  switch (node.type) {
    case "line_comment":
    case "block_comment":
    case "token_tree":
    case "use_declaration":
      return;
    case "attribute_item":
      attributeUses(node, place);
      return;
    case "macro_definition":
      macroBodies(node, place);
      return;
    case "identifier":
      if (HOLDING.has(place.around ?? "")) reference(node, place);
      return;
    case "scoped_identifier":
    case "generic_function":
      if (HOLDING.has(place.around ?? "")) reference(node, place);
      break;
    case "mod_item":
      module(node, place);
      return;
    case "struct_item":
    case "enum_item":
    case "union_item":
    case "trait_item":
      typeItem(node, place);
      return;
    case "impl_item":
      implementation(node, place);
      return;
    case "function_item":
    case "function_signature_item":
      functionItem(node, place, undefined);
      return;
    case "closure_expression": {
      const inner = { ...place, scope: file.inner(scope, undefined) };
      for (const [at, each] of (node.field("parameters")?.namedChildren ?? []).entries())
        parameter(each, inner, handedTo(node, at, scope));
      visitField(node, "body", inner);
      return;
    }
    case "block": {
      const inner = { ...place, scope: file.inner(scope, undefined), types: typesIn(place) };
      declareAll(node, inner);
      children(node, inner);
      return;
    }
    case "let_declaration":
      letDeclaration(node, place);
      return;
    case "for_expression": {
      visitField(node, "value", place);
      const inner = { ...place, scope: file.inner(scope, undefined) };
      const of = expressionOf(node.field("value"), scope);
      bindPattern(node.field("pattern"), stepOf({ of }, ITERATED), inner);
      visitField(node, "body", inner);
      return;
    }
    case "if_expression":
    case "while_expression":
    case "match_arm":
      children(node, { ...place, scope: file.inner(scope, undefined) });
      return;
    case "let_condition": {
      visitField(node, "value", place);
      const value = node.field("value");
      bindPattern(node.field("pattern"), value && valueOf(value, place), place);
      return;
    }
    case "match_expression":
      children(node, { ...place, matched: matchedBy(node, place) });
      return;
    case "match_pattern":
      bindPattern(node.namedChild(0), place.matched, place);
      break;
    case "call_expression": {
      const called = node.field("function");
      const name = called && use("call", called, place);
      // Its arguments are two levels below.
      const isAdapter = called?.type === "field_expression" && ADAPTER.test(name ?? "");
      place.adapting = isAdapter ? place.depth + 2 : undefined;
      pushed(node, place);
      break;
    }
    case "assignment_expression":
      assigned(node, place);
      break;
    case "macro_invocation":
      macroCalls(node, place);
      return;
    case "struct_expression": {
      const type = node.field("name");
      if (type) use("construct", type, place);
      break;
    }
  }
  children(node, place);
}

function visitField(node: SyntaxNode, field: string, place: Place): void {
  const child = node.field(field);
  if (child && place.depth < MAX_DEPTH) visit(child, { ...place, depth: place.depth + 1, around: node.type });
}

function use(kind: "call" | "construct" | "inherit", node: SyntaxNode, { file, scope }: Place): string | undefined {
  const bare = node.type === "generic_function" ? (node.field("function") ?? node) : node;
  const typed = bare.type.startsWith("generic_type") ? (bare.field("type") ?? bare) : bare;
  const name = typed.field(typed.type === "field_expression" ? "field" : "name") ?? typed;
  if (!name.type.endsWith("identifier")) return undefined;
  const of = kind === "call" ? calledOf(bare, scope) : typeOf(typed, scope);
  const { text } = name;
  file.use(kind, text, name.row + 1, scope, of);
  return text;
}

/** What a function may be handed to or kept in: a path in it is a value. */
const HOLDING = wordSet(
  "arguments array_expression tuple_expression field_initializer field_expression match_arm let_declaration const_item static_item type_cast_expression reference_expression",
);

/** A function that is handed over or kept: `f`, `m::f`, `Self::f`. By custom, other names are of constants and types; an adapter such as `map` calls these. */
function reference(node: SyntaxNode, { file, scope, depth, adapting }: Place): void {
  const bare = node.type === "generic_function" ? (node.field("function") ?? node) : node;
  const name = bare.type === "identifier" ? bare : (bare.field("name") ?? bare);
  const { text } = name;
  if (bare === name && isVariable(text, scope)) return;
  if (/^\p{Ll}/u.test(text)) file.reference(text, name.row + 1, scope, calledOf(bare, scope));
  else if (adapting === depth) file.use("call", text, name.row + 1, scope, calledOf(bare, scope));
}

/** Whether a name is that of a variable, or another name of one: `match a { Some(b) => b, … }`. */
function isVariable(name: string, scope: Scope): boolean {
  let bound = lookUp(scope, name);
  for (let steps = 0; bound?.is === "alias" && bound.of.is === "name" && steps < MAX_ALIASES; steps++)
    bound = lookUp(bound.of.scope, bound.of.name);
  return bound?.is === "variable";
}
const MAX_ALIASES = 8;

/** Methods that call what they are given: `.map(Wrapper)`. */
const ADAPTER =
  /^(?:map|map_err|and_then|filter_map|flat_map|map_or|map_or_else|or_else|unwrap_or_else|for_each|then)$/;

const typesIn = ({ types }: Place): Types => Object.assign(new Map<string, OpenClass>(), { outer: types });

/** Binds the items of a block or module, which are seen in all of it. */
function declareAll(node: SyntaxNode, place: Place): void {
  const { file, scope, types } = place;
  for (const item of node.namedChildren) {
    if (item.type === "use_declaration") {
      for (const each of importedNames(item)) declareImport(each, item.row + 1, place);
      continue;
    }
    const name = item.field("name");
    if (!name) continue;
    const line = name.row + 1;
    if (item.type === "macro_definition") declareMacro(name, place);
    else if (TYPE_ITEMS.test(item.type)) {
      if (!types.has(name.text)) types.set(name.text, file.openClass(line));
      file.bindOnce(scope, name.text, line);
    } else if (/^(?:function_item|function_signature_item)$/.test(item.type)) file.bindOnce(scope, name.text, line);
    else if (item.type === "const_item" || item.type === "static_item")
      file.bind(scope, name.text, { is: "variable", type: typeOf(item.field("type"), scope) });
    else if (item.type === "type_item")
      file.bind(scope, name.text, { is: "alias", of: typeOf(item.field("type"), scope) });
    else if (item.type === "mod_item" && !item.field("body"))
      file.bind(scope, moduleKey(name.text), { is: "import", module: `self::${name.text}`, name: "*" });
    else if (item.type === "mod_item") {
      const opened = file.openClass(line);
      file.bindOnce(scope, moduleKey(name.text), line);
      for (const inner of item.field("body")?.namedChildren ?? []) {
        const named = inner.field("name");
        if (named && (TYPE_ITEMS.test(inner.type) || inner.type === "function_item"))
          file.memberOnce(opened, named.text, named.row + 1);
      }
    }
  }
}

function declareImport({ parts, alias }: ImportedName, line: number, { file, scope }: Place): void {
  const [module, name] = [parts.slice(0, -1).join("::"), parts.at(-1) ?? ""];
  const isTop = scope === file.top;
  if (alias === "*") {
    file.imports(parts.join("::"), line);
    // The module around one inside of the file is its outer scope, whose names lookups find.
    const module = isTop ? parts : partsFromFile(parts, scope);
    if (module.length > 0) file.takeNames(module.join("::"));
    return;
  }
  if (module === "") return;
  file.imports(module, line, name);
  if (/^(?:self|super)$/.test(parts[0] ?? "") && !isTop)
    file.bind(scope, alias, { is: "alias", of: pathExpression(parts, scope) });
  else file.bind(scope, alias, { is: "import", module, name });
}

function module(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const [name, body] = [node.field("name"), node.field("body")];
  if (!name || !body) return;
  const inner: Place = { ...place, scope: file.inner(scope, name.text), types: typesIn(place) };
  file.bind(inner.scope, MODULE_MARK, { is: "variable" });
  declareAll(body, inner);
  children(body, inner);
}

function typeItem(node: SyntaxNode, place: Place): void {
  const { file, scope, types } = place;
  const name = node.field("name");
  const opened = name && types.get(name.text);
  if (!opened || opened.line !== name.row + 1) return;
  const inner = { ...place, scope: file.inner(scope, name.text) };
  file.bind(inner.scope, SELF_TYPE, { is: "alias", of: { is: "class", line: opened.line } });
  typeParameters(node, inner, ownParameters(node, name.text));
  if (node.field("type_parameters")) file.declaresTypes(opened, name.text);
  const body = node.field("body");
  if (node.type === "trait_item") {
    for (const bound of node.field("bounds")?.namedChildren ?? []) base(bound, opened, inner);
    for (const each of body?.namedChildren ?? []) visitMember(each, opened, inner);
    return;
  }
  if (body) fieldsOf(body, "", opened, inner);
}

/** Adds the fields of a struct, or of a variant of an enumeration, whose names then begin with that of the variant. */
function fieldsOf(body: SyntaxNode, variant: string, opened: OpenClass, place: Place): void {
  const { file, scope } = place;
  for (const [i, each] of body.namedChildren.entries()) {
    if (variant === "") for (const attribute of attributesOf(each)) attributeUses(attribute, place);
    const own = each.field("name");
    if (body.type === "ordered_field_declaration_list") {
      const type = body.fields("type")[i];
      if (type) file.member(opened, fieldKey(`${variant}${i}`), type.row + 1, typeOf(type, scope));
    } else if (each.type === "field_declaration" && own)
      file.member(opened, fieldKey(variant + own.text), own.row + 1, typeOf(each.field("type"), scope));
    else if (each.type === "enum_variant" && own) {
      file.memberOnce(opened, own.text, own.row + 1);
      file.returns(own.row + 1, { is: "class", line: opened.line });
      const fields = each.field("body");
      if (fields) fieldsOf(fields, `${own.text}.`, opened, place);
    }
  }
}

/** A member that is an attribute itself, or attributes of a variant's fields. */
const attributesOf = (member: SyntaxNode): SyntaxNode[] =>
  [member, ...(member.type === "enum_variant" ? (member.field("body")?.namedChildren ?? []) : [])].filter(
    ({ type }) => type === "attribute_item",
  );

function base(node: SyntaxNode, opened: OpenClass | undefined, place: Place): void {
  if (!/identifier$|^generic_type$/.test(node.type)) return;
  use("inherit", node, place);
  const parts = pathParts(node);
  if (!opened || !parts) return;
  opened.bases.push(pathExpression(parts, place.scope));
  for (const [at, type] of typeArguments(node).entries())
    place.file.gives(opened, parts.at(-1) ?? "", at, node.row + 1, typeOf(type, place.scope));
}

function implementation(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const [type, trait, body] = [node.field("type"), node.field("trait"), node.field("body")];
  const parts = pathParts(type);
  const name = parts?.length === 1 ? parts[0] : undefined;
  const inner = { ...place, scope: file.inner(scope, parts?.at(-1)) };
  typeParameters(node, inner, type && givenParameters(type, parts?.at(-1) ?? ""));
  if (parts) file.bind(inner.scope, SELF_TYPE, { is: "alias", of: pathExpression(parts, scope) });
  const opened = name === undefined ? undefined : openType(place.types, name);
  if (trait) base(trait, opened, inner);
  for (const each of body?.namedChildren ?? [])
    visitMember(each, opened, inner, opened || name === undefined ? undefined : name);
}

function openType(types: Types, name: string): OpenClass | undefined {
  for (let at: Types | undefined = types; at; at = at.outer) {
    const found = at.get(name);
    if (found) return found;
  }
  return undefined;
}

/** A method, also one of a type that another file defines: it is bound as `Type.method`. */
function visitMember(node: SyntaxNode, opened: OpenClass | undefined, place: Place, apart?: string): void {
  if (node.type !== "function_item" && node.type !== "function_signature_item") {
    visit(node, place);
    return;
  }
  const name = node.field("name");
  if (!name) return;
  const line = name.row + 1;
  if (opened) place.file.memberOnce(opened, name.text, line);
  else if (apart !== undefined) place.file.bindOnce(place.file.top, `${apart}.${name.text}`, line);
  functionItem(node, place, { is: "name", name: SELF_TYPE, scope: place.scope });
}

function functionItem(node: SyntaxNode, place: Place, self: Expression | undefined): void {
  const { file, scope } = place;
  const name = node.field("name");
  if (!name) return;
  const inner = { ...place, scope: file.inner(scope, name.text), begun: 0 };
  typeParameters(node, inner);
  for (const each of node.field("parameters")?.namedChildren ?? []) {
    if (each.type === "self_parameter" && self) file.bind(inner.scope, "self", { is: "alias", of: self });
    else parameter(each, inner);
  }
  handsToClosures(node, name.row + 1, inner);
  const returned = node.field("return_type");
  if (returned) file.returns(name.row + 1, typeOf(returned, inner.scope));
  visitField(node, "body", inner);
}

function letDeclaration(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const [type, value] = [node.field("type"), node.field("value")];
  if (value) visitField(node, "value", place);
  visitField(node, "alternative", place);
  const known = type ? ofType(type, scope) : value ? valueOf(value, place) : { of: NOTHING };
  // A `let` starts a new scope: earlier statements and its own value see the previous variable of that name.
  if (place.begun++ < MAX_BEGUN) place.scope = file.inner(scope, undefined);
  bindPattern(node.field("pattern"), known, place);
}
