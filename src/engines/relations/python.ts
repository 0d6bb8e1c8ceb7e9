import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { bindingScope, type Expression, givenOr, NOTHING, type Scope, stepInto, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { MAX_DEPTH, MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { visitChildren, visitGuarded } from "./walk.ts";
import { decoratorsOf, fixtures, namedFixtures, plugins, type PythonPlace } from "./pytest.ts";
import { boundOf, expressionOf, givenBy, narrowed, resultsOf, typeOf } from "./python-expressions.ts";
import { ENTERED, ITERATED, LIST, MAP, PLACE, SECOND_PLACE } from "./wrapped.ts";

/** Reads a Python tree. */
export function readPython(root: SyntaxNode, file: FileBuilder): void {
  children(root, { file, scope: file.top, body: undefined, results: undefined, yields: undefined, depth: 0 });
}

interface Place extends PythonPlace {
  /** What the function around returns. */
  results: Expression[] | undefined;
  /** What it yields. */
  yields: Expression[] | undefined;
}

const children = (node: SyntaxNode, place: Place): void => visitChildren(node, place, visit);

function visit(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  switch (node.type) {
    case "comment":
    case "integer":
      return;
    case "identifier":
      if (HOLDING.has(place.around ?? "")) reference(node, place);
      return;
    case "attribute":
      if (HOLDING.has(place.around ?? "")) reference(node, place);
      break;
    case "keyword_argument": {
      const value = node.field("value");
      if (value && place.depth < MAX_DEPTH) visit(value, { ...place, depth: place.depth + 1, around: "argument_list" });
      return;
    }
    case "import_statement":
      for (const name of node.fields("name")) importModule(name, place);
      return;
    case "import_from_statement":
      importNames(node, place);
      return;
    case "class_definition":
      classDefinition(node, place);
      return;
    case "function_definition":
      functionDefinition(node, place);
      return;
    case "lambda": {
      const inner = file.inner(scope, undefined);
      parameters(node.field("parameters"), { ...place, scope: inner }, false);
      children(node, { ...place, scope: inner, body: undefined });
      return;
    }
    case "decorator": {
      const [value] = node.namedChildren;
      const named = value?.type === "call" ? value.field("function") : value;
      if (named) use("decorator", named, place);
      break;
    }
    case "call": {
      const called = node.field("function");
      if (called) use("call", called, place);
      const object = called?.type === "attribute" ? called.field("object") : undefined;
      if (object && OF_FUNCTIONS.has(called?.field("attribute")?.text ?? "")) reference(object, place);
      if (called?.text === "load") loadedNames(node, place);
      namedFixtures(node, place);
      break;
    }
    case "assignment":
      assignment(node, place);
      break;
    case "for_statement":
    case "for_in_clause": {
      const over = node.field("right");
      targets(node.field("left"), place, over && { is: "member", of: expressionOf(over, scope), name: ITERATED });
      break;
    }
    case "as_pattern_target":
      targets(node.namedChild(0), place, entered(node, scope));
      return;
    case "return_statement": {
      const value = node.namedChild(0);
      if (value) place.results?.push(...resultsOf(value, scope));
      break;
    }
    case "yield": {
      const value = node.children.some(({ type }) => type === "from") ? undefined : node.namedChild(0);
      place.yields?.push(value ? expressionOf(value, scope) : UNKNOWN);
      break;
    }
    case "named_expression":
      targets(node.field("name"), place, expressionOf(node, scope));
      break;
    case "if_statement":
    case "elif_clause":
    case "while_statement": {
      const guarded = node.field("consequence") ?? node.field("body");
      visitGuarded(node, place, guarded, narrowed(node.field("condition"), scope), visit);
      return;
    }
    case "boolean_operator": {
      const guard = node.field("operator")?.text === "and" ? node.field("left") : undefined;
      visitGuarded(node, place, node.field("right"), narrowed(guard, scope), visit);
      return;
    }
    case "assert_statement":
      for (const [name, type] of narrowed(node.namedChild(0), scope)) file.bind(scope, name, { is: "variable", type });
      break;
  }
  children(node, place);
}

function use(kind: "call" | "inherit" | "decorator", node: SyntaxNode, { file, scope }: Place): void {
  const named = node.type === "attribute" ? node.field("attribute") : node;
  if (named?.type === "identifier") file.use(kind, named.text, named.row + 1, scope, expressionOf(node, scope));
}

/** What a function may be handed to or kept in: a name in it is a value. */
const HOLDING = wordSet("argument_list list tuple pair return_statement conditional_expression boolean_operator");

/** Methods that decorators give to functions, and that call them or register others: `task.delay(x)` of Celery, `f.remote()` of Ray, `f.register` of `singledispatch`. */
const OF_FUNCTIONS = wordSet(
  "apply apply_async as_task cache_clear chunks defer defer_async delay enqueue expand map options partial register remote retry s send " +
    "send_with_options si signature starmap submit subtask",
);

/** A function that is handed over or kept: `f`, `self.f`, `m.f`. By custom, names that begin with a capital are of classes and constants. */
function reference(node: SyntaxNode, { file, scope }: Place): void {
  const name = node.type === "attribute" ? node.field("attribute") : node;
  if (name && !/^\p{Lu}/u.test(name.text)) file.reference(name.text, name.row + 1, scope, expressionOf(node, scope));
}

function importModule(node: SyntaxNode, { file, scope }: Place): void {
  const module = node.type === "aliased_import" ? node.field("name")?.text : node.text;
  if (module !== undefined) file.imports(module, node.row + 1);
  if (node.type === "aliased_import") {
    const [name, alias] = [node.field("name")?.text, node.field("alias")?.text];
    if (name !== undefined && alias !== undefined) file.bind(scope, alias, { is: "import", module: name, name: "*" });
    return;
  }
  // `import a.b` binds `a`.
  const [first = ""] = node.text.split(".");
  if (!bindingScope(scope).names.has(first)) file.bind(scope, first, { is: "import", module: first, name: "*" });
}

/** Of Starlark: `load("//tools:rules.bzl", "rule", other = "name")`. */
function loadedNames(call: SyntaxNode, { file, scope }: Place): void {
  const [first, ...names] = call.field("arguments")?.namedChildren ?? [];
  const module = textOf(first);
  if (module === undefined || !/^(?:@|\/\/|:)/.test(module)) return;
  file.imports(module, call.row + 1);
  for (const each of names) {
    const name = textOf(each.type === "keyword_argument" ? each.field("value") : each);
    const alias = each.type === "keyword_argument" ? each.field("name")?.text : name;
    if (name !== undefined && alias !== undefined) file.bind(scope, alias, { is: "import", module, name });
  }
}

const textOf = (node: SyntaxNode | undefined): string | undefined =>
  node?.type === "string" ? node.text.slice(1, -1) : undefined;

function importNames(node: SyntaxNode, { file, scope }: Place): void {
  const module = node.field("module_name")?.text.replaceAll(/\s/g, "");
  if (module === undefined) return;
  for (const each of node.fields("name")) {
    const name = (each.type === "aliased_import" ? each.field("name") : each)?.text;
    const alias = each.type === "aliased_import" ? each.field("alias")?.text : name;
    if (name !== undefined) file.imports(module, each.row + 1, name);
    if (name !== undefined && alias !== undefined) file.bind(scope, alias, { is: "import", module, name });
  }
  if (!node.childOfType("wildcard_import")) return;
  file.imports(module, node.row + 1);
  file.takeNames(module);
}

function classDefinition(node: SyntaxNode, place: Place): void {
  const { file, scope, body } = place;
  const name = node.field("name");
  if (!name) return;
  const line = name.row + 1;
  const opened = file.openClass(line);
  if (body) file.member(body, name.text, line);
  else file.bind(scope, name.text, { is: "definition", line });
  const inner = { ...place, scope: file.inner(scope, name.text) };
  typeParameters(node, inner, name.text);
  if (node.field("type_parameters")) file.declaresTypes(opened, name.text);
  for (const base of node.field("superclasses")?.namedChildren ?? []) {
    if (base.type === "keyword_argument" || base.type === "comment") continue;
    const named = base.type === "subscript" ? (base.field("value") ?? base) : base;
    use("inherit", named, inner);
    // They add no members.
    const isOpen = /^(?:\w+\.)*(?:Generic|Protocol)$/.test(named.text);
    if (!isOpen) opened.bases.push(expressionOf(named, scope));
    for (const [at, type] of (base === named ? [] : base.fields("subscript")).entries())
      if (!isOpen) file.gives(opened, named.text, at, type.row + 1, typeOf(type, inner.scope));
      else if (type.type === "identifier") {
        const bound: Expression = { is: "name", name: type.text, scope };
        file.bind(inner.scope, type.text, { is: "alias", of: givenOr(name.text, at, bound) });
        file.declaresTypes(opened, name.text);
      }
  }
  const own: Scope = { ...inner.scope, own: opened };
  const found = node.field("body");
  if (found) children(found, { ...place, scope: own, body: opened });
}

function functionDefinition(node: SyntaxNode, place: Place): void {
  const { file, scope, body } = place;
  const name = node.field("name");
  if (!name) return;
  const line = name.row + 1;
  if (body) file.member(body, name.text, line, isProperty(node) ? returnType(node, scope) : undefined);
  else file.bind(scope, name.text, { is: "definition", line, decorator: decoratorOf(node, scope) });
  const typed = file.inner(scope, name.text);
  typeParameters(node, { ...place, scope: typed });
  // Parameters may have the names of types.
  const inner = file.inner(typed, undefined);
  const isBound = body !== undefined && !isStatic(node);
  parameters(node.field("parameters"), { ...place, scope: inner }, isBound);
  const { isFixture, bind } = fixtures(node, inner, place, isBound);
  const found = node.field("body");
  const [results, yields]: [Expression[], Expression[]] = [[], []];
  if (found) children(found, { ...place, scope: inner, body: undefined, results, yields });
  bind();
  const returns = node.field("return_type");
  const isGenerator = yields.length > 0;
  if (returns) {
    const type = typeOf(returns, typed);
    file.returns(line, isFixture && isGenerator ? { is: "member", of: type, name: ENTERED } : type);
  } else {
    const yielded = isFixture ? yields : yields.map(listOf);
    const values = isGenerator ? yielded : results;
    // A decorator may make something else of it.
    if (isFixture || decoratorsOf(node).every(({ text }) => KEEPING.test(text))) file.returnsValues(line, values);
    else file.returnsLikely(line, values);
  }
  const [result, ...others] = results;
  if (body && isProperty(node) && !returns && result && others.length === 0)
    file.member(body, name.text, line, { is: "likely", of: result });
}

/** Decorators that leave what a function returns. */
const KEEPING = /^(?:staticmethod|classmethod|(?:\w+\.)?override)$/;

const listOf = (of: Expression): Expression => stepInto(of, LIST);

/** A type parameter is known by its bound: `[T: Bound]`. */
function typeParameters(node: SyntaxNode, { file, scope }: Place, owner?: string): void {
  for (const [at, each] of (node.field("type_parameters")?.namedChildren ?? []).entries()) {
    const [name, bound] = each.childOfType("constrained_type")?.namedChildren ?? [each];
    const of = bound ? standIn(typeOf(bound, scope)) : UNKNOWN;
    if (name) file.bind(scope, name.text, { is: "alias", of: owner === undefined ? of : givenOr(owner, at, of) });
  }
}

/** The bound of a type parameter; the type that it stands for may override what the bound has. */
const standIn = (of: Expression): Expression => ({ is: "likely", of });

const returnType = (node: SyntaxNode, scope: Scope): Expression | undefined => {
  const type = node.field("return_type");
  return type && typeOf(type, scope);
};
/** The outermost decorator of a function. */
const decoratorOf = (node: SyntaxNode, scope: Scope): Expression | undefined => {
  const [outermost] = decoratorsOf(node);
  return outermost && expressionOf(outermost, scope);
};
const isStatic = (node: SyntaxNode): boolean => decoratorsOf(node).some(({ text }) => text === "staticmethod");
const isProperty = (node: SyntaxNode): boolean => decoratorsOf(node).some(({ text }) => /property\b/.test(text));

/** What parameters for any number of arguments hold: `*args`, `**named`. */
const REST: ReadonlyMap<string, string> = new Map([
  ["list_splat_pattern", LIST],
  ["dictionary_splat_pattern", MAP],
]);

/** Binds the parameters; the first of a method is an instance of its class, or the class. */
function parameters(list: SyntaxNode | undefined, place: Place, isMethod: boolean): void {
  const { file, scope } = place;
  for (const [i, each] of (list?.namedChildren ?? []).entries()) {
    const pattern = each.field("name") ?? (each.type === "identifier" ? each : each.namedChild(0));
    const name = pattern && REST.has(pattern.type) ? pattern.namedChild(0) : pattern;
    if (name?.type !== "identifier") {
      targets(each, place);
      continue;
    }
    const type = each.field("type");
    const own = i === 0 && isMethod ? scope.own : undefined;
    if (own) file.bind(scope, name.text, { is: "alias", of: { is: "class", line: own.line } });
    else {
      const of = type && typeOf(type, scope.outer ?? scope);
      const held = pattern && REST.get(pattern.type);
      const known: Expression | undefined = of && held && of.is !== "unknown" ? { is: "member", of, name: held } : of;
      file.bind(scope, name.text, { is: "variable", type: known });
    }
    const value = each.field("value");
    if (value) visit(value, { ...place, scope: scope.outer ?? scope, around: "argument_list" });
  }
}

function assignment(node: SyntaxNode, place: Place): void {
  const [left, right] = [node.field("left"), node.field("right")];
  if (right && left?.text === "pytest_plugins") plugins(right, place.file);
  const names = left && TUPLE.test(left.type) ? left.namedChildren : [];
  const values = right && TUPLE.test(right.type) ? right.namedChildren : [];
  const isSpread = [...names, ...values].some(({ type }) => /splat/.test(type));
  if (names.length === 0 || names.length !== values.length || isSpread) assign(left, right, node.field("type"), place);
  else for (const [i, name] of names.entries()) assign(name, values[i], undefined, place);
}

/** Names or values that are assigned one by one. */
const TUPLE = /^(?:pattern_list|tuple_pattern|expression_list|tuple)$/;

function assign(
  left: SyntaxNode | undefined,
  right: SyntaxNode | undefined,
  type: SyntaxNode | undefined,
  place: Place,
): void {
  const values = right && !type ? givenBy(right) : [];
  // A name keeps what it has in `a = a or b`.
  const given = values.length > 1 ? values.filter((value) => value.text !== left?.text) : [right];
  for (const value of given) assignOne(left, value, type, place);
}

function assignOne(
  left: SyntaxNode | undefined,
  right: SyntaxNode | undefined,
  type: SyntaxNode | undefined,
  place: Place,
): void {
  const { file, scope, body } = place;
  const known = type ? typeOf(type, scope) : right && assigned(right, scope);
  if (right?.type === "identifier" || right?.type === "attribute") reference(right, place);
  if (left?.type === "identifier") {
    const bound = boundOf(right, scope);
    const isTop = bindingScope(scope) === file.top;
    const top = isTop ? left.row + 1 : undefined;
    if (bound) file.bind(scope, left.text, { is: "alias", of: standIn(bound) });
    else if (body) file.member(body, left.text, left.row + 1, known, type !== undefined);
    else if (type) file.bind(scope, left.text, { is: "variable", line: top, type: known });
    // A name of the whole module is a definition, whatever its value.
    else if (isTop && right?.type !== "call" && !file.top.names.has(left.text))
      file.bind(scope, left.text, { is: "definition", line: left.row + 1 });
    else file.bind(scope, left.text, { is: "variable", line: top, value: known, at: left.row + 1 });
  } else if (left?.type === "attribute") {
    const own = scope.own;
    const field = left.field("attribute");
    if (own && field && left.field("object")?.text === "self" && !body)
      file.member(own, field.text, field.row + 1, known ?? parameterOf(right, scope) ?? UNKNOWN, type !== undefined);
  } else targets(left, place, known);
}

const VALUES =
  /^(?:call|subscript|await|attribute|list|set|dictionary|(?:list|set|dictionary)_comprehension|named_expression)$/;

/** The value that a variable or field is given, if it can be followed. */
function assigned(value: SyntaxNode, scope: Scope, depth = 0): Expression | undefined {
  if (value.type === "none") return NOTHING;
  if (value.type === "assignment") {
    const inner = value.field("right");
    return inner && depth < MAX_EXPRESSION_DEPTH ? assigned(inner, scope, depth + 1) : undefined;
  }
  return VALUES.test(value.type) ? expressionOf(value, scope) : undefined;
}

/** The value of a field that is a parameter: its type is looked up with the rest. */
function parameterOf(node: SyntaxNode | undefined, scope: Scope): Expression | undefined {
  const binding = node?.type === "identifier" ? bindingScope(scope).names.get(node.text) : undefined;
  return binding?.is === "variable" ? (binding.type ?? binding.value) : undefined;
}

/** Binds the names of a pattern: one alone to the value, if it is known; of several each to an element, the second one of an entry to its value. */
function targets(node: SyntaxNode | undefined, place: Place, value?: Expression): void {
  if (!node || place.depth >= MAX_DEPTH) return;
  if (node.type === "identifier") {
    if (place.body) place.file.member(place.body, node.text, node.row + 1, UNKNOWN);
    else place.file.bind(place.scope, node.text, { is: "variable", type: value });
  } else if (/_pattern$|^(?:pattern_list|tuple|list|parenthesized_expression)$/.test(node.type))
    for (const [i, child] of node.namedChildren.entries()) {
      const name = i === 1 ? SECOND_PLACE : PLACE;
      const part: Expression | undefined =
        value && child.type !== "list_splat_pattern" ? { is: "member", of: value, name } : undefined;
      targets(child, { ...place, depth: place.depth + 1 }, part);
    }
}

/** Value of `with … as`: what a generator function yields, otherwise the object itself. */
function entered(target: SyntaxNode, scope: Scope): Expression | undefined {
  const pattern = target.parent;
  const value =
    pattern?.type === "as_pattern" && pattern.parent?.type === "with_item" ? pattern.namedChild(0) : undefined;
  if (!value) return undefined;
  return { is: "likely", of: { is: "member", of: expressionOf(value, scope), name: ENTERED } };
}
