import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, type OpenClass, passed, stepInto, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import {
  bindParameters,
  declare,
  declareAll,
  isType,
  modifiers,
  overloadedIn,
  property,
  receiverType,
  typeParameters,
} from "./kotlin-declarations.ts";
import {
  AS_PARAMETER,
  calledIn,
  componentKey,
  destructured,
  expressionOf,
  handedIn,
  isJump,
  lambdaParameters,
  memberCalled,
  partsOfCall,
  RECEIVER,
} from "./kotlin-expressions.ts";
import { castsIn, caught, companion, deeper, handedAround, heritage, MAX_HANDED, narrowed } from "./kotlin-scopes.ts";
import { importDeclaration, isTypeNode, type Names, parametersOf, type Place } from "./kotlin-names.ts";
import { reference } from "./kotlin-references.ts";
import { typeOf } from "./kotlin-types.ts";
import { MAX_DEPTH } from "./limits.ts";
import { lastName } from "./named.ts";
import { PACKAGE } from "./packages.ts";
import { visitChildren } from "./walk.ts";
import { ITERATED } from "./wrapped.ts";

/**
 * Reads a Kotlin tree. Functions are known as `name/2`, by how many arguments they may have, and so are constructors, by the name of their
 * class; extensions as `.name/2`. What other files cannot see is bound in a scope inside of the top.
 */
export function readKotlin(root: SyntaxNode, file: FileBuilder): void {
  const own = root.childOfType("package_header")?.childOfType("qualified_identifier", "identifier");
  const names: Names = {
    package: own?.text.replaceAll(/[\s`]/g, "") ?? "",
    imports: new Map(),
    stars: [],
    receivers: new Map(),
  };
  file.bind(file.top, PACKAGE, { is: "import", module: names.package, name: "*" });
  const place: Place = { file, scope: file.inner(file.top, undefined), depth: 0, names };
  for (const each of root.namedChildren) if (each.type === "import") importDeclaration(each, place);
  declareAll(root.namedChildren, place);
  children(root, place);
}

const children = (node: SyntaxNode, place: Place): void => visitChildren(node, place, visit);

/** Visits a class, interface, object or companion; `line` is that of its name. */
function typeBody(node: SyntaxNode, name: string, line: number, place: Place): void {
  const { file, names } = place;
  const opened = file.openClass(line);
  const statics = { ...place, scope: file.inner(place.scope, undefined) };
  const scope = file.inner(statics.scope, name, opened);
  const inner = { ...place, scope };
  typeParameters(node, statics, name);
  if (node.childOfType("type_parameters")) file.declaresTypes(opened, name);
  for (const each of node.namedChildren) if (each.type === "modifiers") visit(each, place);
  const bases = heritage(node, opened, statics, scope);
  names.receivers.set(scope, { of: { is: "class", line }, isOpen: bases > 0, isHanded: false });
  const primary = node.childOfType("primary_constructor")?.childOfType("class_parameters");
  bindParameters(primary, inner, opened);
  if (modifiers(node).includes("data"))
    for (const [i, { name: own, type }] of parametersOf(primary).entries())
      if (own && type) file.member(opened, componentKey(i), own.row + 1, typeOf(type, statics), true);
  for (const { node: each } of parametersOf(primary)) children(each, inner);
  for (const each of node.childOfType("delegation_specifiers")?.namedChildren ?? []) bodyOfBase(each, inner);
  const body = node.childOfType("class_body", "enum_class_body");
  if (body) members(body, opened, statics, inner);
}

/** Visits the arguments of a base's constructor, or the delegate that implements an interface. */
function bodyOfBase(node: SyntaxNode, place: Place): void {
  const holder = node.childOfType("constructor_invocation", "explicit_delegation") ?? node;
  for (const each of holder.namedChildren) if (!isTypeNode(each)) visit(each, place);
}

function members(body: SyntaxNode, opened: OpenClass, statics: Place, inner: Place): void {
  const { file } = inner;
  const line = opened.line;
  const companions = body.namedChildren.filter(({ type }) => type === "companion_object");
  const overloaded = overloadedIn(body.namedChildren);
  for (const each of body.namedChildren) {
    if (each.type === "companion_object") companion(each, opened, statics);
    else if (each.type === "enum_entry") {
      const name = each.childOfType("identifier");
      if (!name) continue;
      file.member(opened, name.text, name.row + 1, { is: "call", of: { is: "class", line } });
      file.bind(statics.scope, name.text, { is: "alias", of: { is: "class", line } });
    } else declare(each, isType(each) ? statics : inner, opened, overloaded);
  }
  for (const each of body.namedChildren)
    if (each.type === "enum_entry") {
      const own = each.childOfType("class_body");
      for (const child of each.namedChildren) if (child.type === "value_arguments") visit(child, inner);
      if (own) anonymous(each, own, [{ is: "class", line }], statics);
    } else if (companions.every(({ id }) => id !== each.id))
      visitDeclared(each, isInner(each) ? inner : statics, inner);
  for (const each of companions) typeBody(each, each.field("name")?.text ?? "Companion", each.row + 1, statics);
}

const isInner = (node: SyntaxNode): boolean => modifiers(node).includes("inner");

function visitDeclared(node: SyntaxNode, around: Place, inner: Place): void {
  if (isType(node)) declaredType(node, around);
  else visit(node, inner);
}

function anonymous(node: SyntaxNode, body: SyntaxNode, bases: readonly Expression[], place: Place): void {
  const { file, names } = place;
  const line = body.row + 1;
  const opened = file.openClass(line);
  opened.bases.push(...bases);
  const scope = file.inner(place.scope, undefined, opened);
  names.receivers.set(scope, { of: { is: "class", line }, isOpen: true, isHanded: false });
  const inner = { ...place, scope, depth: place.depth + 1 };
  heritage(node, opened, place, scope);
  for (const each of node.childOfType("delegation_specifiers")?.namedChildren ?? []) bodyOfBase(each, place);
  members(body, opened, inner, inner);
}

function declaredType(node: SyntaxNode, place: Place): void {
  const name = node.field("name");
  if (name && place.depth < MAX_DEPTH) typeBody(node, name.text, name.row + 1, { ...place, depth: place.depth + 1 });
}

function visit(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  if (place.depth > MAX_DEPTH) return;
  switch (node.type) {
    case "line_comment":
    case "block_comment":
    case "identifier":
    case "import":
    case "package_header":
      return;
    case "ERROR":
      if (scope.outer === file.top) declareAll(node.namedChildren, place);
      break;
    case "class_declaration":
    case "object_declaration":
      if (scope.outer !== file.top && !isOfClass(place)) declare(node, place);
      declaredType(node, place);
      return;
    case "function_declaration":
    case "anonymous_function":
    case "secondary_constructor":
      if (node.type === "function_declaration" && scope.outer !== file.top && !isOfClass(place)) declare(node, place);
      functionBody(node, place);
      return;
    case "property_declaration":
      if (scope.outer !== file.top && !isOfClass(place)) localProperty(node, place);
      propertyBody(node, place);
      return;
    case "object_literal": {
      const body = node.childOfType("class_body");
      if (body && place.depth < MAX_DEPTH) anonymous(node, body, [], place);
      return;
    }
    case "call_expression":
      call(node, place);
      return;
    case "infix_expression": {
      const [of, name] = [node.namedChild(0), node.namedChild(1)];
      if (of && name?.type === "identifier")
        file.use("call", name.text, name.row + 1, scope, memberCalled(of, name.text, "/1", place));
      break;
    }
    case "callable_reference":
    case "navigation_expression":
      reference(node, place);
      break;
    case "annotation": {
      const type = node.childOfType("constructor_invocation")?.namedChild(0) ?? node.namedChildren.at(-1);
      const name = lastName(type);
      if (type && name) file.use("decorator", name.text, name.row + 1, scope, typeOf(type, place));
      break;
    }
    case "if_expression":
      ifExpression(node, place);
      return;
    case "when_expression":
      whenExpression(node, place);
      return;
    case "binary_expression":
      if (node.field("operator")?.text === "&&") {
        conjunction(node, place);
        return;
      }
      break;
    case "block":
    case "lambda_literal":
      statements(node.namedChildren, { ...place, scope: file.inner(scope, undefined) });
      return;
    case "for_statement":
      forStatement(node, place);
      return;
    case "catch_block":
      children(node, caught(node, place));
      return;
  }
  children(node, place);
}

/** Whether a scope is that of a class, whose members are bound already. */
const isOfClass = ({ scope, names }: Place): boolean => names.receivers.has(scope) && scope.own !== scope.outer?.own;

function functionBody(node: SyntaxNode, place: Place): void {
  const { file, names } = place;
  const inner = { ...deeper(place), scope: file.inner(place.scope, node.field("name")?.text) };
  typeParameters(node, inner);
  const receiver = receiverType(node);
  if (receiver) names.receivers.set(inner.scope, { of: typeOf(receiver, inner), isOpen: true, isHanded: false });
  bindParameters(node.childOfType("function_value_parameters"), inner);
  for (const each of node.namedChildren)
    if (each.type === "modifiers") visit(each, deeper(place));
    else if (!isTypeNode(each) && each.type !== "type_parameters") children(each, inner);
}

function localProperty(node: SyntaxNode, place: Place): void {
  const several = node.childOfType("multi_variable_declaration");
  const value = node.namedChildren.at(-1);
  if (several) destructured(several, value && value.id !== several.id ? expressionOf(value, place) : UNKNOWN, place);
  else property(node, place);
}

/** The value, delegate and accessors of a property. */
function propertyBody(node: SyntaxNode, place: Place): void {
  const { file, names } = place;
  const name = node.childOfType("variable_declaration")?.childOfType("identifier");
  const isLocal = place.scope.outer !== file.top && !isOfClass(place);
  const inner = { ...deeper(place), scope: file.inner(place.scope, isLocal ? undefined : name?.text) };
  typeParameters(node, inner);
  const receiver = receiverType(node);
  if (receiver) names.receivers.set(inner.scope, { of: typeOf(receiver, inner), isOpen: true, isHanded: false });
  for (const each of node.namedChildren) {
    if (each.type === "modifiers") visit(each, deeper(place));
    else if (each.type === "setter") {
      const value = each.childOfType("identifier");
      if (value) file.bind(inner.scope, value.text, { is: "variable" });
      children(each, inner);
    } else if (!isTypeNode(each) && !/^(?:multi_)?variable_declaration$|^type_parameters$/.test(each.type))
      visit(each, inner);
  }
}

function call(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const { callee, args, lambda } = partsOfCall(node);
  const called = calledIn(node, place);
  if (called) {
    const kind = /^\p{Lu}/u.test(called.name.text) ? "construct" : "call";
    file.use(kind, called.name.text, called.name.row + 1, scope, called.of);
  }
  const inner = deeper(place);
  if (callee?.type === "navigation_expression") children(callee, inner);
  else if (callee) visit(callee, inner);
  for (const each of args) children(each, inner);
  if (lambda) lambdaOf(lambda, called, args, inner);
}

/** Scope functions of the standard library, which pass their receiver to a lambda as `this`. */
const AS_RECEIVER: ReadonlySet<string> = new Set(["apply", "run"]);

/** Visits the trailing lambda of a call, with the receiver and parameters that the called function passes to it. */
function lambdaOf(
  lambda: SyntaxNode,
  called: ReturnType<typeof calledIn>,
  args: readonly SyntaxNode[],
  place: Place,
): void {
  const { file, names } = place;
  const inner = { ...place, scope: file.inner(place.scope, undefined) };
  const name = called?.name.text ?? "";
  const handed = (parameter: number): Expression => (called ? handedIn(name, called, parameter) : UNKNOWN);
  const first = args[0]?.namedChildren.at(-1);
  const { receiver } = called ?? {};
  const object = receiver
    ? AS_RECEIVER.has(name)
      ? receiver
      : undefined
    : name === "with" && first && expressionOf(first, place);
  if (object) names.receivers.set(inner.scope, { of: object, isOpen: true, isHanded: false });
  else if (called && handedAround(place) < MAX_HANDED && !(receiver && AS_PARAMETER.has(name)))
    names.receivers.set(inner.scope, { of: handed(RECEIVER), isOpen: true, isHanded: true });
  lambdaParameters(lambda, handed, inner);
  statements(
    lambda.namedChildren.filter(({ type }) => type !== "lambda_parameters"),
    inner,
  );
}

function ifExpression(node: SyntaxNode, place: Place): void {
  const condition = node.field("condition");
  const isElse = node.children.findIndex(({ type }) => type === "else");
  for (const [i, each] of node.children.entries())
    if (each.id === condition?.id) visit(each, deeper(place));
    else if (each.type !== each.text) visit(each, narrowed(castsIn(condition, isElse < 0 || i < isElse), place));
}

/** `a && b`: smart casts of `a` apply to `b`. */
function conjunction(node: SyntaxNode, place: Place): void {
  const [left, right] = [node.field("left"), node.field("right")];
  if (left) visit(left, deeper(place));
  if (right) visit(right, narrowed(castsIn(left, true), place));
}

function whenExpression(node: SyntaxNode, place: Place): void {
  const inner = { ...deeper(place), scope: place.file.inner(place.scope, undefined) };
  const subject = node.childOfType("when_subject");
  const variable = subject?.childOfType("variable_declaration")?.childOfType("identifier");
  const value = subject?.namedChildren.at(-1);
  if (value) visit(value, inner);
  if (variable && value) {
    const of = expressionOf(value, place);
    place.file.bind(inner.scope, variable.text, { is: "variable", value: passed(of) });
  }
  const name = variable ?? (value?.type === "identifier" ? value : undefined);
  for (const entry of node.namedChildren) {
    if (entry.type !== "when_entry") continue;
    const conditions = entry.fields("condition");
    const [only, ...others] = conditions;
    const test = only?.type === "type_test" && !only.text.startsWith("!") ? only.namedChildren.at(-1) : undefined;
    const tested = name && test ? [{ name: name.text, type: test }] : subject ? [] : castsIn(only, true);
    const own = narrowed(others.length === 0 ? tested : [], inner);
    for (const each of entry.namedChildren) visit(each, conditions.some(({ id }) => id === each.id) ? inner : own);
  }
}

/** Visits statements in order: after `if (x !is T) return`, `x` is a `T`. */
function statements(nodes: readonly SyntaxNode[], place: Place): void {
  let at = deeper(place);
  for (const each of nodes) {
    visit(each, at);
    if (each.type !== "if_expression" || each.children.some(({ type }) => type === "else")) continue;
    const body = each.namedChildren.at(-1);
    const last = body?.type === "block" ? body.namedChildren.at(-1) : body;
    const casts = last && isJump(last) ? castsIn(each.field("condition"), false) : [];
    if (casts.length > 0) at = { ...narrowed(casts, at), depth: at.depth };
  }
}

function forStatement(node: SyntaxNode, place: Place): void {
  const { file } = place;
  const inner = { ...deeper(place), scope: file.inner(place.scope, undefined) };
  const variable = node.childOfType("variable_declaration", "multi_variable_declaration");
  const [iterated, ...body] = node.namedChildren.filter(({ id, type }) => id !== variable?.id && type !== "label");
  if (iterated) visit(iterated, deeper(place));
  const of = iterated ? expressionOf(iterated, place) : UNKNOWN;
  const element: Expression = stepInto(of, ITERATED);
  const name = variable?.childOfType("identifier");
  const type = variable?.namedChildren.find(isTypeNode);
  if (name)
    file.bind(inner.scope, name.text, {
      is: "variable",
      ...(type ? { type: typeOf(type, place) } : { value: element }),
    });
  else if (variable) destructured(variable, element, inner);
  for (const each of body) visit(each, inner);
}
