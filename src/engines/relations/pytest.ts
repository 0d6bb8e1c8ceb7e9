/** What a file of Python says of fixtures of pytest: `fixtures.ts` says what they are. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { bindingScope, type Expression, lookUp, type OpenClass, type Scope } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { fixtureKey, FIXTURES, FIXTURES_ABOVE, PLUGIN } from "./fixtures.ts";
import type { Place } from "./walk.ts";

export interface PythonPlace extends Place {
  /** Class whose body this is, of which names are members. */
  body: OpenClass | undefined;
}

/** Strings of a call or list that are looked at. */
const MAX_STRINGS = 30;

const MODULES = /^(?:pytest|pytest_asyncio|_pytest\.fixtures)$/;
const FIXTURE = /^(?:yield_)?fixture$/;

/** The decorators of a function or class, without the `@`. */
export const decoratorsOf = (node: SyntaxNode): SyntaxNode[] =>
  node.parent?.type === "decorated_definition"
    ? node.parent.namedChildren.flatMap((each) => (each.type === "decorator" ? (each.namedChild(0) ?? []) : []))
    : [];

/**
 * Binds a fixture under its own name, and records the fixtures that the parameters of fixtures and tests get. `inner`: the function's scope;
 * `isBound`: its first parameter is an instance. `bind` gives the parameters the values of these fixtures, once the function is read: what is
 * assigned to them counts before that.
 */
export function fixtures(
  node: SyntaxNode,
  inner: Scope,
  { file, scope, body }: PythonPlace,
  isBound: boolean,
): { isFixture: boolean; bind: () => void } {
  // Functions inside of others are neither.
  const isCollected = body !== undefined || bindingScope(scope) === file.top;
  const own = isCollected ? fixtureOf(node, scope) : undefined;
  const isFixture = own !== undefined;
  const line = (node.field("name")?.row ?? 0) + 1;
  if (isFixture && body) file.member(body, fixtureKey(own), line);
  else if (isFixture) file.bind(file.top, fixtureKey(own), { is: "definition", line });
  const isAsking = isCollected && (isFixture || isTest(node, body !== undefined));
  const asked = isAsking
    ? requested(node, isBound).map((name) => ({ name, of: fixture(name.text, body, name.text === own) }))
    : [];
  for (const { name, of } of asked) file.use("call", name.text, name.row + 1, inner, of);
  const bind = (): void => {
    for (const { name, of } of asked) {
      const binding = inner.names.get(name.text);
      if (binding?.is === "variable" && !binding.type) binding.value ??= { is: "call", of };
    }
  };
  return { isFixture, bind };
}

/** The name of the fixture that a function is decorated to be. */
function fixtureOf(node: SyntaxNode, scope: Scope): string | undefined {
  for (const decorator of decoratorsOf(node)) {
    const named = decorator.type === "call" ? decorator.field("function") : decorator;
    if (!named || !isFixtureDecorator(named, scope)) continue;
    const given = decorator.type === "call" ? stringOf(keyword(decorator, "name")) : undefined;
    return given ?? node.field("name")?.text;
  }
  return undefined;
}

function isFixtureDecorator(named: SyntaxNode, scope: Scope): boolean {
  const module = named.type === "attribute" ? named.field("object") : named;
  const binding = module?.type === "identifier" ? lookUp(scope, module.text) : undefined;
  if (binding?.is !== "import" || !MODULES.test(binding.module)) return false;
  if (named.type !== "attribute") return FIXTURE.test(binding.name);
  return binding.name === "*" && FIXTURE.test(named.field("attribute")?.text ?? "");
}

/** Whether a function at the top of a file, or in a class, is a test. */
function isTest(node: SyntaxNode, isMethod: boolean): boolean {
  const nameOf = (own: SyntaxNode | undefined): string => own?.field("name")?.text ?? "";
  // The tests of a base class run in the classes that inherit it, whose names begin with `Test`.
  return nameOf(node).startsWith("test") && (!isMethod || nameOf(classAround(node)).includes("Test"));
}

/** The class whose body a function is in. */
function classAround(node: SyntaxNode): SyntaxNode | undefined {
  let at = node.parent;
  while (at && /^(?:decorated_definition|block)$/.test(at.type)) at = at.parent;
  return at?.type === "class_definition" ? at : undefined;
}

/** The parameters of a test or fixture that get fixtures: those that nothing else gives a value. */
function requested(node: SyntaxNode, isBound: boolean): SyntaxNode[] {
  const decorators = decoratorsOf(node);
  const given = givenNames([...decorators, ...decoratorsOf(classAround(node) ?? node)]);
  if (!given) return [];
  const patches = decorators.filter((each) => /^(?:\w+\.)*patch\b/.test(each.field("function")?.text ?? "")).length;
  const names = (node.field("parameters")?.namedChildren ?? []).flatMap((each) => {
    const name = each.type === "typed_parameter" ? each.namedChild(0) : each;
    return name?.type === "identifier" ? [name] : [];
  });
  // Patches pass their mocks as the first arguments.
  return names.slice(patches + (isBound ? 1 : 0)).filter(({ text }) => !given.has(text));
}

/** Names of parameters to which decorators give values; undefined where these are not written down. */
function givenNames(decorators: readonly SyntaxNode[]): Set<string> | undefined {
  const given = new Set<string>();
  for (const decorator of decorators) {
    if (decorator.type !== "call") continue;
    const list = decorator.field("arguments")?.namedChildren ?? [];
    const named = list.flatMap((each) => each.field("name")?.text ?? []);
    for (const name of named) given.add(name);
    if (!/\bparametrize$/.test(decorator.field("function")?.text ?? "") || named.includes("indirect")) continue;
    const names = keyword(decorator, "argnames") ?? list[0];
    const strings = names && stringsIn(names);
    if (!strings || strings.length === 0) return undefined;
    for (const name of strings.flatMap(({ text }) => text.split(","))) given.add(name.trim());
  }
  return given;
}

/** What stands for a fixture. `around`: the class in which it is asked for. `isOwn`: by a fixture of that name. */
function fixture(name: string, around: OpenClass | undefined, isOwn: boolean): Expression {
  const module = isOwn && !around ? FIXTURES_ABOVE : FIXTURES;
  const ofFile: Expression = { is: "import", module, name };
  if (!around || isOwn) return ofFile;
  const ofClass: Expression = { is: "member", of: { is: "class", line: around.line }, name: fixtureKey(name) };
  return { is: "first", of: ofClass, otherwise: ofFile };
}

/** Uses of the fixtures that a call names in strings: `usefixtures("a")`, `request.getfixturevalue("a")`. */
export function namedFixtures(call: SyntaxNode, { file, scope, body }: PythonPlace): void {
  const called = call.field("function");
  const name = called?.type === "attribute" ? called.field("attribute")?.text : called?.text;
  const list = name === "usefixtures" || name === "getfixturevalue" ? call.field("arguments") : undefined;
  for (const { text, node } of list ? stringsIn(list) : [])
    file.use("call", text, node.row + 1, scope, fixture(text, body ?? scope.own, false));
}

/** Records the modules whose fixtures a file gets, from the value of `pytest_plugins`. */
export function plugins(value: SyntaxNode, file: FileBuilder): void {
  for (const { text } of stringsIn(value)) file.star(PLUGIN + text);
}

/** The strings of a list, tuple or list of arguments, or the string itself. */
function stringsIn(node: SyntaxNode): { text: string; node: SyntaxNode }[] {
  const parts = node.type === "string" ? [node] : node.namedChildren.slice(0, MAX_STRINGS);
  return parts.flatMap((each) => {
    const text = stringOf(each);
    return text === undefined ? [] : [{ text, node: each }];
  });
}

const keyword = (call: SyntaxNode, name: string): SyntaxNode | undefined =>
  call
    .field("arguments")
    ?.namedChildren.find((each) => each.type === "keyword_argument" && each.field("name")?.text === name)
    ?.field("value");

/** A string of one piece without escapes. */
const stringOf = (node: SyntaxNode | undefined): string | undefined =>
  node?.type === "string" ? /^["']([^"'\\{}]*)["']$/.exec(node.text)?.[1] : undefined;
