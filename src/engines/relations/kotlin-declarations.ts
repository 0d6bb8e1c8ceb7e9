/** Declarations of Kotlin: what they bind, and what is recorded of their types. */
import { ANY_NUMBER, takes } from "./overload-sets.ts";
import { ANY_TYPE } from "./overloads.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { bindExtensions } from "./bind-extensions.ts";
import { type Expression, givenOr, type OpenClass, passed, UNKNOWN } from "./expressions.ts";
import { expressionOf, partsOfCall, RECEIVER, resultOfLambda } from "./kotlin-expressions.ts";
import { typeName, typeOf } from "./kotlin-types.ts";
import { extensionKey, isTypeNode, keysOf, parametersOf, type Place } from "./kotlin-names.ts";

/** Keys of functions have the number of arguments. */
const ANY_ARGUMENTS = takes(0, ANY_NUMBER);

/** Binds the declarations at the top of a file. */
export function declareAll(nodes: readonly SyntaxNode[], place: Place): void {
  const { file, scope } = place;
  for (const each of nodes) declare(each, { ...place, scope: isPrivate(each) ? scope : file.top });
}

export const modifiers = (node: SyntaxNode): string[] =>
  node.childOfType("modifiers")?.namedChildren.map(({ text }) => text) ?? [];
const isPrivate = (node: SyntaxNode): boolean => modifiers(node).includes("private");

export const isType = (node: SyntaxNode): boolean => /^(?:class_declaration|object_declaration)$/.test(node.type);

/** Binds keys of which only one definition is known to be meant; constructors of a class have its line. */
function bindKeys(keys: readonly string[], line: number, { file, scope }: Place): void {
  for (const key of keys) {
    const known = scope.names.get(key);
    if (known?.is !== "definition" || known.line !== line) file.bindOnce(scope, key, line);
  }
}

function memberKeys(keys: readonly string[], line: number, opened: OpenClass, { file }: Place): void {
  for (const key of keys) if (opened.members.get(key)?.line !== line) file.memberOnce(opened, key, line);
}

/** Binds a declaration in the scope of a place, and as a member of a class. */
export function declare(node: SyntaxNode, place: Place, opened?: OpenClass, overloaded?: ReadonlySet<string>): void {
  const { file, scope } = place;
  const name = node.field("name");
  switch (node.type) {
    case "class_declaration":
    case "object_declaration": {
      if (!name) return;
      const keys = [name.text, ...constructorKeys(node, name.text)];
      bindKeys(keys, name.row + 1, place);
      for (const [key, line] of invoked(node, name.text)) {
        if (keys.includes(key) && !hasPrivateConstructor(node)) continue;
        file.bindOnce(scope, key, line);
        if (opened) file.memberOnce(opened, key, line);
      }
      if (opened) memberKeys(keys, name.row + 1, opened, place);
      return;
    }
    case "function_declaration": {
      if (!name) return;
      const keys = keysOf(name.text, node.childOfType("function_value_parameters"));
      const result = returned(node, name, place);
      if (receiverType(node)) extension(keys.map(extensionKey), node, name, place, opened);
      else {
        const isOverloaded = (key: string) => opened !== undefined && overloaded?.has(key) === true;
        const alone = keys.filter((key) => !isOverloaded(key));
        if (opened) {
          bindKeys(alone, name.row + 1, place);
          memberKeys(alone, name.row + 1, opened, place);
        } else for (const key of alone) file.bindOverload(scope, key, { line: name.row + 1, takes: ANY_ARGUMENTS });
        for (const key of keys.filter(isOverloaded)) overload(key, node, name.row + 1, result, place, opened);
      }
      return;
    }
    case "property_declaration":
      property(node, place, opened);
      return;
    case "type_alias": {
      const alias = node.field("type") ?? node.childOfType("identifier");
      const type = node.namedChildren.findLast(isTypeNode);
      if (!alias || !type) return;
      if (type.type === "function_type") {
        file.bindOnce(scope, alias.text, alias.row + 1);
        handsOver(type, alias.row + 1, place, "itself");
      } else file.bind(scope, alias.text, { is: "alias", of: typeOf(type, place) });
    }
  }
}

/** Keys that several functions of a class have. */
export function overloadedIn(nodes: readonly SyntaxNode[]): Set<string> {
  const [seen, overloaded] = [new Set<string>(), new Set<string>()];
  for (const node of nodes) {
    const name = node.type === "function_declaration" && !receiverType(node) ? node.field("name") : undefined;
    if (!name) continue;
    for (const key of keysOf(name.text, node.childOfType("function_value_parameters")))
      (seen.has(key) ? overloaded : seen).add(key);
  }
  return overloaded;
}

/** Binds one of several functions with as many arguments, by the types of its parameters. */
function overload(key: string, node: SyntaxNode, line: number, result: Expression, place: Place, opened?: OpenClass) {
  const { file, scope } = place;
  if (!opened) return;
  const inner = { ...place, scope: file.inner(scope, undefined) };
  typeParameters(node, inner);
  const count = Number(key.slice(key.lastIndexOf("/") + 1));
  const parameters = parametersOf(node.childOfType("function_value_parameters"));
  const variadic = parameters.findIndex((each) => each.isVariadic);
  const types = Array.from({ length: count }, (_, i) => {
    const parameter = parameters[variadic < 0 ? i : Math.min(i, variadic)];
    // Arguments after those of a variadic parameter have names.
    return variadic >= 0 && variadic < parameters.length - 1 && i >= variadic
      ? ANY_TYPE
      : typeName(parameter?.type, inner);
  });
  file.overload(opened, key, types, line, result);
  scope.names.set(key, { is: "overloads", line: opened.line });
}

/** The type that an extension extends. */
export function receiverType(node: SyntaxNode): SyntaxNode | undefined {
  const dot = node.children.findIndex(({ type }) => type === ".");
  const type = dot < 0 ? undefined : node.children[dot - 1];
  return type && isTypeNode(type) ? type : undefined;
}

/** Binds an extension with the type that it extends. */
function extension(keys: string[], node: SyntaxNode, name: SyntaxNode, place: Place, opened?: OpenClass): void {
  const { file, scope } = place;
  const receiver = receiverType(node);
  const inner = { ...place, scope: file.inner(scope, undefined) };
  typeParameters(node, inner);
  bindExtensions(keys, name.row + 1, receiver ? typeOf(receiver, inner) : UNKNOWN, scope);
  if (opened) for (const key of keys) file.memberOnce(opened, key, name.row + 1);
}

/** Keys of the constructors of a class, and of what its companion has for a call of the class. */
function constructorKeys(node: SyntaxNode, name: string): string[] {
  if (node.type === "object_declaration") return [];
  const words = node.children.filter(({ type, text }) => type === text).map(({ text }) => text);
  // An interface of one function is made of a lambda.
  if (/\binterface\b/.test(words.join(" "))) return /^fun\b/.test(words[0] ?? "") ? [`${name}/1`] : [];
  if (modifiers(node).includes("expect")) return Array.from({ length: 6 }, (_, i) => `${name}/${i}`);
  const primary = node.childOfType("primary_constructor")?.childOfType("class_parameters");
  const others = node.childOfType("class_body")?.namedChildren.filter(({ type }) => type === "secondary_constructor");
  const keys = (others ?? []).flatMap((each) => keysOf(name, each.childOfType("function_value_parameters")));
  return primary || keys.length === 0 ? [...new Set([...keysOf(name, primary), ...keys])] : [...new Set(keys)];
}

/** A public constructor hides what its companion has for the same call; inside of the class, a private one is meant. */
const hasPrivateConstructor = (node: SyntaxNode): boolean =>
  node.childOfType("primary_constructor")?.childOfType("modifiers")?.text.includes("private") ?? false;

/** Functions of an object, or of a companion, that a call of the object or class may mean, with their lines. */
function invoked(node: SyntaxNode, name: string): [string, number][] {
  const companions = (node.childOfType("class_body")?.namedChildren ?? []).filter(
    ({ type }) => type === "companion_object",
  );
  const members = (node.type === "object_declaration" ? [node] : companions).flatMap(
    (each) => each.childOfType("class_body")?.namedChildren ?? [],
  );
  return members.flatMap((each) => {
    const own = each.type === "function_declaration" ? each.field("name") : undefined;
    if (own?.text !== "invoke") return [];
    const keys = keysOf(name, each.childOfType("function_value_parameters"));
    return keys.map((key): [string, number] => [key, own.row + 1]);
  });
}

/** Records what a function gives: its declared type, or what its only expression gives. */
function returned(node: SyntaxNode, name: SyntaxNode, place: Place): Expression {
  const { file } = place;
  const line = name.row + 1;
  const inner = { ...place, scope: file.inner(place.scope, undefined) };
  typeParameters(node, inner);
  const list = node.childOfType("function_value_parameters");
  const parameters = node.children.findIndex(({ id }) => id === list?.id);
  const type = node.children.slice(parameters + 1).find(isTypeNode);
  const body = node.childOfType("function_body")?.namedChild(0);
  const last = parametersOf(list).at(-1)?.type;
  if (last) handsOver(last, line, inner);
  if (type) {
    const of = typeOf(type, inner);
    file.returns(line, of);
    return of;
  }
  const value = body?.type === "block" ? undefined : body;
  if (value) bindParameters(list, inner);
  const of = value ? expressionOf(value, inner) : UNKNOWN;
  if (of.is === "call") file.returns(line, of);
  else file.returnsLikely(line, [of]);
  return passed(of);
}

/** Records what a function hands to the lambda that is its last parameter. */
function handsOver(type: SyntaxNode, line: number, place: Place, outer: 0 | "itself" = 0): void {
  const { file } = place;
  const own = type.type === "nullable_type" || type.type === "parenthesized_type" ? type.namedChildren.at(-1) : type;
  const at = own?.type === "parenthesized_type" ? own.namedChildren.at(-1) : own;
  if (at?.type === "user_type" && outer === 0) file.hands(line, typeOf(at, place), 0, "type");
  if (at?.type !== "function_type") return;
  const receiver = receiverType(at);
  if (receiver) file.hands(line, typeOf(receiver, place), outer, RECEIVER);
  for (const [i, each] of (at.childOfType("function_type_parameters")?.namedChildren ?? []).entries()) {
    const parameter = each.type === "parameter" ? each.namedChildren.at(-1) : each;
    if (parameter && i < RECEIVER) file.hands(line, typeOf(parameter, place), outer, i);
  }
}

export function property(node: SyntaxNode, place: Place, opened?: OpenClass): void {
  const { file, scope } = place;
  const variable = node.childOfType("variable_declaration");
  const name = variable?.childOfType("identifier");
  if (!variable || !name || receiverType(node)) return;
  const line = name.row + 1;
  const declared = variable.namedChildren.find(isTypeNode);
  const type = declared && typeOf(declared, place);
  const value = type ?? valueOf(node, place);
  const isTop = scope === file.top || scope.outer === file.top;
  if (opened) file.member(opened, name.text, line, type ?? passed(value), type !== undefined);
  file.bind(scope, name.text, {
    is: "variable",
    line: isTop ? line : undefined,
    ...(type ? { type, typeName: typeName(declared, place) } : { value: passed(value) }),
  });
}

/** The value of a variable without a declared type. */
function valueOf(node: SyntaxNode, place: Place): Expression {
  const delegate = node.childOfType("property_delegate")?.namedChild(0);
  if (delegate) {
    const call = delegate.type === "call_expression" ? partsOfCall(delegate) : undefined;
    return call?.callee?.text === "lazy" && call.lambda ? resultOfLambda(call.lambda, place) : UNKNOWN;
  }
  const assigned = node.children.findIndex(({ type }) => type === "=");
  const getter = node.childOfType("getter")?.childOfType("function_body")?.namedChild(0);
  const value = assigned < 0 ? getter : node.children.slice(assigned + 1).find(({ type }) => !/comment/.test(type));
  return value && value.type !== "block" ? expressionOf(value, place) : UNKNOWN;
}

/** A type parameter is known by its bound. */
export function typeParameters(node: SyntaxNode, place: Place, owner?: string): void {
  const { file, scope } = place;
  for (const [at, each] of (node.childOfType("type_parameters")?.namedChildren ?? []).entries()) {
    const name = each.childOfType("identifier");
    const bound = each.namedChildren.find(isTypeNode);
    const of = bound ? typeOf(bound, place) : UNKNOWN;
    const type = owner === undefined ? of : givenOr(owner, at, of);
    if (name) file.bind(scope, name.text, { is: "variable", type });
  }
}

/** Binds parameters; those of a constructor that are properties are members too. */
export function bindParameters(list: SyntaxNode | undefined, place: Place, opened?: OpenClass): void {
  const { file, scope } = place;
  for (const { node, name, type, isVariadic } of parametersOf(list)) {
    if (!name) continue;
    const known = type && !isVariadic ? typeOf(type, place) : UNKNOWN;
    file.bind(scope, name.text, {
      is: "variable",
      type: known,
      typeName: isVariadic ? undefined : typeName(type, place),
    });
    const isProperty = opened && node.children.some(({ type: own }) => own === "val" || own === "var");
    if (isProperty) file.member(opened, name.text, name.row + 1, known, true);
  }
}
