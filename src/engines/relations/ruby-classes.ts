/** Classes and modules of Ruby: opening them, and the declarations made by calls in their bodies. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { instanceOf, UNKNOWN } from "./expressions.ts";
import {
  asValue,
  type Body,
  constantOf,
  isConstant,
  ownMember,
  pathOf,
  type Place,
  textOf,
  valueOf,
} from "./ruby-expressions.ts";
import { EXTENDED, type Level, memberKey, PREPENDED, SUPERCLASS } from "./ruby-keys.ts";

export interface Reader extends Place {
  /** Classes and modules of the file, by their full names: they may be opened several times. */
  bodies: Map<string, Body>;
  /** What `def` defines: methods of instances, or of the class itself. */
  defines: Level;
}

/** The class or module with a full name, which is opened at a line. */
export function openBody(full: string, line: number, { file, bodies }: Reader): Body {
  let body = bodies.get(full);
  if (!body) {
    file.bind(file.top, full, { is: "definition", line });
    bodies.set(full, (body = { opened: file.openClass(line), full, isFunctions: false }));
  }
  body.isFunctions = false;
  return body;
}

export const fullName = (path: string, nesting: readonly string[]): string =>
  path.startsWith("::") || nesting[0] === undefined ? path.replace(/^::/, "") : `${nesting[0]}::${path}`;

/** A class without a name, such as a block in which methods are defined. */
export function unnamed(node: SyntaxNode, { file, body }: Reader): Body {
  const opened = file.openClass(node.row + 1);
  // A nested block sees the methods of the enclosing ones.
  if (body && body.full === undefined) opened.bases.push({ is: "class", line: body.opened.line });
  return { opened, full: undefined, isFunctions: false };
}

/** Records a superclass: a constant, or a `Struct` with attributes. */
export function inherit(node: SyntaxNode, body: Body, place: Reader): void {
  const { file } = place;
  const of = constantOf(node, place);
  const isStructure = node.type === "call" && STRUCTURE.test(node.text.slice(0, 20));
  if (of) useBase(node, place);
  if (isStructure) attributes(node.field("arguments")?.namedChildren ?? [], body, place);
  else file.member(body.opened, SUPERCLASS, node.row + 1, of ?? UNKNOWN);
}

const STRUCTURE = /^(?:Struct\.new|Data\.define)\b/;

function useBase(node: SyntaxNode, place: Reader): void {
  const { file, scope } = place;
  const of = constantOf(node, place);
  const last = node.type === "scope_resolution" ? (node.field("name") ?? node) : node;
  if (of) file.use("inherit", last.text, last.row + 1, scope, of);
}

/** Attributes of a structure. */
export function attributes(names: readonly SyntaxNode[], { opened }: Body, { file }: Reader): void {
  for (const each of names) {
    const name = textOf(each);
    if (name === undefined) continue;
    file.member(opened, memberKey("-", name), each.row + 1);
    file.member(opened, memberKey("-", `${name}=`), each.row + 1);
  }
}

/** What a call without a receiver declares in a class; false if it is an ordinary call. */
export function declare(name: string, node: SyntaxNode, place: Reader): boolean {
  const args = node.field("arguments")?.namedChildren ?? [];
  const { body, file } = place;
  const [first, second] = args;
  if (/^(?:require|require_relative|load|autoload)$/.test(name)) {
    const path = textOf(name === "autoload" ? second : first);
    if (path === undefined) return false;
    file.imports(name === "require_relative" && !path.startsWith(".") ? `./${path}` : path, node.row + 1);
    return true;
  }
  if (/^(?:include|extend|prepend)$/.test(name) && place.method === undefined) {
    for (const each of args) if (isConstant(each) || each.type === "self") mixIn(name, each, place);
    return args.every((each) => isConstant(each) || each.type === "self");
  }
  if (!body || place.method !== undefined) return false;
  const { opened } = body;
  switch (name) {
    case "attr_reader":
    case "attr_writer":
    case "attr_accessor":
    case "attr":
    case "cattr_accessor":
    case "mattr_accessor":
      for (const each of args) attribute(name, each, opened, place);
      return true;
    case "alias_method":
      aliasOf(second, first, place);
      return true;
    case "module_function":
      for (const each of args) moduleFunction(textOf(each), opened, place);
      return args.every((each) => textOf(each) !== undefined);
    case "def_delegator":
    case "def_instance_delegator": {
      const own = args[2] ?? second;
      const text = textOf(own);
      if (own && text !== undefined) file.memberOnce(opened, memberKey(place.defines, text), own.row + 1);
      return true;
    }
    case "def_delegators":
    case "def_instance_delegators":
    case "delegate":
      for (const each of name === "delegate" ? args : args.slice(1)) {
        const text = textOf(each);
        if (text !== undefined) file.memberOnce(opened, memberKey(place.defines, text), each.row + 1);
      }
      return true;
    case "define_method":
    case "define_singleton_method": {
      const text = textOf(first);
      const level = name === "define_method" ? place.defines : "+";
      if (first && text !== undefined) file.memberOnce(opened, memberKey(level, text), first.row + 1);
      return false;
    }
    case "let":
    case "let!":
    case "subject": {
      const code = node.field("block")?.field("body");
      const text = name === "subject" && !first ? name : textOf(first);
      if (body.full !== undefined || !code || text === undefined) return false;
      const value = asValue(valueOf(code, { ...place, scope: file.inner(place.scope, undefined) }));
      file.member(opened, memberKey("-", text), node.row + 1, { is: "likely", of: value });
      return false;
    }
    default:
      return false;
  }
}

function mixIn(name: string, node: SyntaxNode, place: Reader): void {
  const { file, body, defines } = place;
  const of =
    node.type === "self" ? body && ({ is: "class", line: body.opened.line } as const) : constantOf(node, place);
  if (!of) return;
  useBase(node, place);
  if (!body) return;
  const line = node.row + 1;
  const isOfClass = name === "extend" || defines === "+";
  if (isOfClass) file.member(body.opened, EXTENDED + node.text, line, of);
  else if (name === "prepend") file.member(body.opened, PREPENDED + node.text, line, of);
  else body.opened.bases.push(of);
}

/** `attr_reader :a` returns the instance variable `@a`; a writable attribute may hold another value. */
function attribute(kind: string, node: SyntaxNode, opened: Body["opened"], { file, defines }: Reader): void {
  const name = textOf(node);
  if (name === undefined) return;
  const line = node.row + 1;
  const variable = memberKey(defines, `@${name}`);
  const level = /^[cm]attr/.test(kind) ? "+" : defines;
  if (kind !== "attr_writer")
    file.member(opened, memberKey(level, name), line, {
      is: "call",
      of: { is: "member", of: { is: "class", line: opened.line }, name: variable },
    });
  if (!/writer|accessor/.test(kind)) return;
  file.member(opened, memberKey(level, `${name}=`), line);
  file.member(opened, variable, line, UNKNOWN);
}

function moduleFunction(name: string | undefined, opened: Body["opened"], { file }: Reader): void {
  const own = name === undefined ? undefined : opened.members.get(memberKey("-", name));
  if (own && name !== undefined) file.memberOnce(opened, memberKey("+", name), own.line);
}

/** Records an alias of a method. */
export function aliasOf(old: SyntaxNode | undefined, name: SyntaxNode | undefined, place: Reader): void {
  const { file, body, defines } = place;
  if (!old || !name || !body) return;
  const line = name.row + 1;
  file.memberOnce(body.opened, memberKey(defines, textOf(name) ?? name.text), line);
  const of = ownMember(textOf(old) ?? old.text, { ...place, level: defines });
  file.returnsLikely(line, [instanceOf(of)]);
}

/** Path of the class in which a block is evaluated, as by `A.class_eval`. */
export const evaluatedIn = (receiver: SyntaxNode | undefined, name: string): string | undefined =>
  receiver && /^(?:class|module)_(?:eval|exec)$/.test(name) ? pathOf(receiver) : undefined;
