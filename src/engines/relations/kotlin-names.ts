/** Names of Kotlin: what a name without a receiver means, by the scopes, receivers and imports around it. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Binding, type Expression, type Scope } from "./expressions.ts";
import { importKey } from "./packages.ts";
import type { Place as BasePlace } from "./walk.ts";

/** What a name of an import leads to: a name of a package, or a member of a class of it. */
interface Imported {
  module: string;
  name: string;
  of: Expression | undefined;
}

/** What members are called on without a name: `this` of a class, an extension or a lambda. */
export interface Receiver {
  of: Expression;
  /** It has members that are not bound in its scope. */
  isOpen: boolean;
  /** Whether there is one depends on the function that a lambda is given to. */
  isHanded: boolean;
}

export interface Names {
  package: string;
  imports: Map<string, Imported>;
  /** Classes all of whose members are imported. */
  stars: Expression[];
  receivers: Map<Scope, Receiver>;
}

export interface Place extends BasePlace {
  names: Names;
}

/** Receivers around a name that are looked through. */
const MAX_RECEIVERS = 4;
/** Classes imported as a whole that are looked through. */
const MAX_STARS = 4;
/** Numbers of arguments with which a function that takes any number of them is bound, and default values that are told apart. */
const MAX_COUNTS = 10;

export const isTypeNode = ({ type }: SyntaxNode): boolean =>
  /^(?:user|nullable|non_nullable|function|parenthesized)_type$/.test(type);

/** Functions are known as `name/2`, by the number of their arguments. */
export const functionKey = (name: string, count: number): string => `${name}/${count}`;

/** Key of an extension; that of its receiver is not part of it. */
export const extensionKey = (key: string): string => `.${key}`;

/** Keys of a function, one for each number of arguments that it takes. */
export function keysOf(name: string, parameters: SyntaxNode | undefined): string[] {
  let [least, most] = [0, 0];
  let isVariadic = false;
  for (const each of parametersOf(parameters)) {
    most++;
    if (each.isVariadic) isVariadic = true;
    else if (!each.isOptional) least++;
  }
  const last = Math.min(isVariadic ? most + MAX_COUNTS : most, least + MAX_COUNTS);
  return Array.from({ length: last - least + 1 }, (_, i) => functionKey(name, least + i));
}

export interface Parameter {
  node: SyntaxNode;
  name: SyntaxNode | undefined;
  type: SyntaxNode | undefined;
  isVariadic: boolean;
  isOptional: boolean;
}

/** The parameters of a function or primary constructor: modifiers and default values of the former stand beside them. */
export function parametersOf(list: SyntaxNode | undefined): Parameter[] {
  const found: Parameter[] = [];
  let isVariadic = false;
  for (const each of list?.namedChildren ?? []) {
    if (each.type === "parameter_modifiers") isVariadic = /\bvararg\b/.test(each.text);
    else if (each.type === "parameter" || each.type === "class_parameter") {
      const name = each.namedChildren.find(({ type }) => type === "identifier");
      const type = each.namedChildren.find(isTypeNode);
      const isOptional = each.children.some((own) => own.type === "=");
      if (each.type === "class_parameter") isVariadic = /\bvararg\b/.test(each.childOfType("modifiers")?.text ?? "");
      found.push({ node: each, name, type, isVariadic, isOptional });
      isVariadic = false;
    } else if (!/comment/.test(each.type)) {
      const last = found.at(-1);
      if (last) last.isOptional = true;
    }
  }
  return found;
}

/** A name or, with the suffix of its arguments, a function: of the scopes around it, of a receiver, imported, or of the package. */
export function unqualified(name: string, given: string, place: Place): Expression {
  const { scope, names } = place;
  const called = `${name}${given}`;
  const key = called.replace(/\(.*/, "");
  const receivers: Receiver[] = [];
  let hit: Expression | undefined;
  for (let at: Scope | undefined = scope; at && !hit; at = at.outer) {
    const receiver = names.receivers.get(at);
    if (at.names.has(key)) hit = { is: "name", name: key, called, scope: at };
    else if (given !== "" && isValue(at.names.get(name))) {
      hit = receiver ? { is: "member", of: receiver.of, name } : { is: "name", name, scope: at };
    } else if (receiver?.isOpen && receivers.length < MAX_RECEIVERS) receivers.push(receiver);
  }
  // A type is rather one of the package than a member of what a lambda gets.
  const open = given === "" && /^\p{Lu}/u.test(name) ? receivers.filter(({ isHanded }) => !isHanded) : receivers;
  const own = hit ?? imported(name, place, called) ?? starred(called, place);
  return open.reduceRight<Expression>((otherwise, { of }) => {
    const member: Expression = { is: "member", of, name: called };
    // Its arguments may fit what is behind it only.
    return { is: "first", of: hit && given !== "" ? { is: "likely", of: member } : member, otherwise };
  }, own);
}

/** Whether a name is a value, which a call of it calls. */
const isValue = (binding: Binding | undefined): boolean =>
  binding !== undefined && binding.is !== "definition" && binding.is !== "several";

/** A class or other type by its name. */
export function typeNamed(name: string, place: Place): Expression {
  return { is: "name", name, scope: place.scope, otherwise: imported(name, place) ?? starred(name, place) };
}

/** What an import gives under a name; with a key, the function of that key. */
export function imported(name: string, { names }: Place, key = name): Expression | undefined {
  const found = names.imports.get(name);
  if (!found) return undefined;
  const own = key === name ? found.name : `${found.name}${key.slice(name.length)}`;
  return found.of ? { is: "member", of: found.of, name: own } : { is: "import", module: found.module, name: own };
}

/** A name of the package, or a member of a class all of whose members are imported. */
function starred(key: string, { names }: Place): Expression {
  const own: Expression = { is: "import", module: names.package, name: key };
  return names.stars.reduce<Expression>(
    (of, star) => ({ is: "first", of, otherwise: { is: "member", of: star, name: key } }),
    own,
  );
}

/** Reads an import: by custom, the names of packages are in lower case, and those of classes are not. */
export function importDeclaration(node: SyntaxNode, { file, names }: Place): void {
  const parts = (node.childOfType("qualified_identifier", "identifier")?.text ?? "")
    .replaceAll(/[\s`]/g, "")
    .split(".");
  const path = parts.join(".");
  const isStar = node.children.some(({ type }) => type === "*");
  const alias = node.namedChildren.slice(1).findLast(({ type }) => type === "identifier");
  const first = parts.findIndex((part) => /^\p{Lu}/u.test(part));
  const end = first < 0 ? (isStar ? parts.length : parts.length - 1) : first;
  const module = parts.slice(0, end).join(".");
  const [outer, ...inner] = parts.slice(end);
  file.imports(module, node.row + 1, outer ?? "*");
  if (isStar && outer === undefined) file.star(path);
  if (outer === undefined) return;
  const member = (of: Expression, name: string): Expression => ({ is: "member", of, name });
  const type: Expression = { is: "import", module, name: outer };
  if (isStar) {
    if (names.stars.length < MAX_STARS) names.stars.push(inner.reduce(member, type));
    return;
  }
  const name = inner.at(-1) ?? outer;
  const of = inner.length === 0 ? undefined : inner.slice(0, -1).reduce(member, type);
  const bound = alias?.text ?? name;
  names.imports.set(bound, { module, name, of });
  if (/^\p{Ll}/u.test(name))
    file.bind(file.top, importKey(bound), of ? { is: "alias", of: member(of, name) } : { is: "import", module, name });
}
