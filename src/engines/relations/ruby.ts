import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, type Scope, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { MAX_DEPTH } from "./limits.ts";
import { bindInstance, bindNames, bindParallel, bindRescued, bindVariable } from "./ruby-bindings.ts";
import {
  aliasOf,
  attributes,
  declare,
  evaluatedIn,
  fullName,
  inherit,
  openBody,
  type Reader,
  unnamed,
} from "./ruby-classes.ts";
import {
  bareCall,
  type Body,
  calledOn,
  constantOf,
  isConstant,
  madeBy,
  ownMember,
  pathOf,
  textOf,
  valueOf,
} from "./ruby-expressions.ts";
import { guardedBy } from "./ruby-narrowing.ts";
import { named, use } from "./ruby-symbols.ts";
import { functionKey, IS_MODULE, lastOfPath, type Level, memberKey, superKey } from "./ruby-keys.ts";
import { visitChildren, visitGuarded } from "./walk.ts";

/**
 * Reads a Ruby tree. Methods of instances are known as `-name` and those of a class or module itself as `+name`; constants are bound by
 * their full names, since any file may open any class.
 */
export function readRuby(root: SyntaxNode, file: FileBuilder): void {
  const scope = apart(file.top, undefined);
  const around = {
    nesting: [],
    body: undefined,
    level: "-",
    self: "sure",
    method: undefined,
    results: undefined,
  } as const;
  children(root, { file, scope, depth: 0, bodies: new Map(), defines: "-", ...around });
}

const children = (node: SyntaxNode, place: Reader): void => visitChildren(node, place, visit);

/** A scope that does not see the variables of enclosing scopes. */
const apart = ({ path }: Scope, name: string | undefined): Scope => ({
  outer: undefined,
  names: new Map(),
  own: undefined,
  path: name === undefined ? path : path === null ? name : `${path}.${name}`,
});

const VISIBILITY = /^(?:private|public|protected|module_function|private_class_method|__method__)$/;

function visit(node: SyntaxNode, place: Reader): void {
  switch (node.type) {
    case "comment":
    case "constant":
    case "string_content":
    case "integer":
    case "undef":
      return;
    case "simple_symbol":
      // `&:f` is called on what the block gets.
      if (place.around === "block_argument") use(node, UNKNOWN, place, textOf(node));
      return;
    case "class":
    case "module":
      container(node, place);
      return;
    case "singleton_class":
      singletonClass(node, place);
      return;
    case "method":
    case "singleton_method":
      method(node, place);
      return;
    case "call":
      call(node, place);
      return;
    case "identifier":
      if (node.text === "module_function" && place.body) place.body.isFunctions = true;
      if (!VISIBILITY.test(node.text)) bare(node, place);
      return;
    case "super":
      superCall(node, place);
      return;
    case "alias":
      aliasOf(node.field("alias"), node.field("name"), place);
      return;
    case "assignment":
    case "operator_assignment":
      assignment(node, place);
      return;
    case "block":
    case "do_block":
    case "lambda":
      blockBody(node, { ...place, scope: place.file.inner(place.scope, undefined) });
      return;
    case "for":
    case "in_clause":
    case "match_pattern":
    case "test_pattern": {
      const pattern = node.field("pattern");
      if (pattern) bindAndVisit(pattern, place);
      break;
    }
    case "rescue":
      bindRescued(node, place);
      break;
    case "if":
    case "elsif":
    case "if_modifier":
    case "binary":
    case "when": {
      const { guarded, types } = guardedBy(node, place);
      visitGuarded(node, place, guarded, types, visit);
      return;
    }
    case "return": {
      const values = node.childOfType("argument_list")?.namedChildren ?? [];
      if (values[0] && values.length === 1) place.results?.push(resultOf(values[0], place));
    }
  }
  children(node, place);
}

/** A bare name is a call unless it is a variable. */
function bare(node: SyntaxNode, place: Reader): void {
  const called = bareCall(node, place);
  if (!called) return;
  const made = node.text === "new" ? madeBy(node, place) : undefined;
  if (made) construct(node, made, place);
  else use(node, called, place);
}

/** Records a construction as a use of the class, by the class's name. */
function construct(node: SyntaxNode, of: Expression, { file, scope, body }: Reader): void {
  const last = node.type === "scope_resolution" ? (node.field("name") ?? node) : node;
  const name = isConstant(node) ? last.text : lastOfPath(body?.full ?? "");
  file.use("construct", name, last.row + 1, scope, of);
}

function container(node: SyntaxNode, place: Reader): void {
  const { file, scope, nesting } = place;
  const name = node.field("name");
  const path = name && pathOf(name);
  if (!name || path === undefined) return;
  const full = fullName(path, nesting);
  const body = openBody(full, name.row + 1, place);
  if (node.type === "module") file.member(body.opened, IS_MODULE, name.row + 1);
  const superclass = node.field("superclass")?.namedChild(0);
  if (superclass) {
    inherit(superclass, body, place);
    visit(superclass, place);
  }
  const code = node.field("body");
  if (code) children(code, { ...inside(body, place, apart(scope, path)), nesting: [full, ...nesting] });
}

/** A place in the body of a class. */
const inside = (body: Body, place: Reader, scope: Scope): Reader => ({
  ...place,
  scope,
  body,
  // A class without a name has only instance methods here.
  level: body.full === undefined ? "-" : "+",
  defines: "-",
  self: "sure",
  method: undefined,
  results: undefined,
});

function singletonClass(node: SyntaxNode, place: Reader): void {
  const own = node.field("value")?.type === "self" ? place.body : undefined;
  const code = node.field("body");
  const scope = apart(place.scope, undefined);
  // Calls in such a body are sent to the singleton class.
  if (code && own) children(code, { ...inside(own, place, scope), defines: "+", self: "unknown" });
  else if (code) children(code, inside(unnamed(node, place), place, scope));
}

function method(node: SyntaxNode, place: Reader): void {
  const { file, scope } = place;
  const name = node.field("name");
  if (!name) return;
  const line = name.row + 1;
  const object = node.field("object");
  const owner = object ? ownerOf(object, node, place) : place.body;
  const level: Level = object ? "+" : place.defines;
  if (owner) {
    file.memberOnce(owner.opened, memberKey(level, name.text), line);
    if (owner.isFunctions && !object) file.memberOnce(owner.opened, memberKey("+", name.text), line);
  } else if (!object) file.bindOnce(file.top, functionKey(name.text), line);
  const results: Expression[] = [];
  const own = { scope: apart(scope, name.text), body: owner, level, self: "sure", method: name.text, results } as const;
  const inner: Reader = { ...place, ...own };
  const parameters = node.field("parameters");
  if (parameters) bindAndVisit(parameters, inner);
  const code = node.field("body");
  if (!code || place.depth >= MAX_DEPTH) return;
  visit(code, { ...inner, depth: place.depth + 1 });
  file.returnsLikely(line, [resultOf(code, inner), ...results]);
}

/** The class for which `def object.name` defines a method. */
function ownerOf(object: SyntaxNode, node: SyntaxNode, place: Reader): Body {
  const { body, nesting } = place;
  if (body && (object.type === "self" || object.text === lastOfPath(body.full ?? ""))) return body;
  const path = nesting.length === 0 ? pathOf(object) : undefined;
  return path === undefined ? unnamed(node, place) : openBody(fullName(path, []), object.row + 1, place);
}

/** The value that a method returns; a class as a value is not followed. */
function resultOf(node: SyntaxNode, place: Reader): Expression {
  const of = valueOf(node, place);
  return of.is === "import" ? UNKNOWN : of;
}

/** `super`, with or without arguments: a call of the enclosing method's name. */
function superCall(node: SyntaxNode, place: Reader): void {
  const { body, level, method: around, self } = place;
  if (around === undefined || !body || self !== "sure") return;
  const of: Expression = { is: "member", of: { is: "class", line: body.opened.line }, name: superKey(level, around) };
  use(node, of, place, around);
}

function call(node: SyntaxNode, place: Reader): void {
  const { depth } = place;
  if (depth >= MAX_DEPTH) return;
  const [name, receiver] = [node.field("method"), node.field("receiver")];
  const inner = { ...place, depth: depth + 1 };
  if (name?.type === "super") superCall(name, place);
  else if (name && (receiver !== undefined || !declare(name.text, node, place))) called(name, receiver, node, place);
  if (receiver) visit(receiver, inner);
  const args = node.field("arguments");
  if (args) children(args, inner);
  if (args && name) named(args, name.text, receiver, place);
  const block = node.field("block");
  if (block) blockOf(block, name?.text ?? "", receiver, args, inner);
}

function called(name: SyntaxNode, receiver: SyntaxNode | undefined, node: SyntaxNode, place: Reader): void {
  const made = name.text === "new" ? madeBy(node, place) : undefined;
  if (made) construct(receiver && isConstant(receiver) ? receiver : name, made, place);
  else use(name, receiver ? calledOn(receiver, name.text, place) : ownMember(name.text, place), place);
}

/** Methods whose block is run where it is written. */
const PLAIN =
  /^(?:each\w*|map|flat_map|select|reject|filter|filter_map|find|detect|times|upto|downto|step|tap|then|loop|any\?|all\?|none\?|inject|reduce|sort_by|group_by|partition|zip|catch|synchronize|lambda|proc|new|begin|private_constant)$/;
const OTHER_SELF = /^(?:instance|class|module)_(?:eval|exec)$|^(?:define_singleton_method|define_method)$/;

/** The block of a call. Outside of methods it is usually run with another `self`: what it calls is then not sure. */
function blockOf(
  node: SyntaxNode,
  name: string,
  receiver: SyntaxNode | undefined,
  args: SyntaxNode | undefined,
  place: Reader,
): void {
  const { file, body } = place;
  const scope = file.inner(place.scope, undefined);
  const path = evaluatedIn(receiver, name);
  if (path !== undefined && place.nesting.length === 0)
    blockBody(node, inside(openBody(path, node.row + 1, place), place, scope));
  else if (name === "define_method" && !receiver && body)
    blockBody(node, { ...place, scope, level: place.defines, self: "sure", method: name });
  else if (isClassMaker(receiver, name) || (body?.full === undefined && opensClass(node, name))) {
    const own = unnamed(node, place);
    const base = receiver?.text === "Class" ? args?.namedChild(0) : undefined;
    if (base) inherit(base, own, place);
    blockBody(node, inside(own, place, scope));
  } else if (OTHER_SELF.test(name)) blockBody(node, { ...place, scope, self: "unknown" });
  else if (place.method !== undefined || PLAIN.test(name)) {
    // These run their block with the object that they are called on.
    const handed = receiver && /^(?:tap|then|yield_self)$/.test(name) ? valueOf(receiver, place) : undefined;
    blockBody(node, { ...place, scope }, handed);
  } else if (name === "class_methods") blockBody(node, { ...place, scope, defines: "+", self: "unsure" });
  else blockBody(node, { ...place, scope, level: "-", self: body?.full === undefined && body ? "sure" : "unsure" });
}

const isClassMaker = (receiver: SyntaxNode | undefined, name: string): boolean =>
  receiver?.type === "constant" && /^(?:Class|Module|Struct)\.new$|^Data\.define$/.test(`${receiver.text}.${name}`);

const GROUPS = /^(?:describe|context|feature|shared_(?:examples|context)(?:_for)?)$/;

/** Whether a block is a class without a name: a group of tests, or another one that defines methods. */
const opensClass = (node: SyntaxNode, name: string): boolean =>
  GROUPS.test(name) || (node.field("body")?.namedChildren ?? []).some(({ type }) => type === "method");

function blockBody(node: SyntaxNode, place: Reader, handed?: Expression): void {
  const parameters = node.field("parameters");
  const only = parameters?.namedChildren.length === 1 ? parameters.namedChild(0) : undefined;
  if (handed && only?.type === "identifier") bindVariable(only.text, handed, place);
  else if (parameters) bindAndVisit(parameters, place);
  const code = node.field("body");
  if (code && place.depth < MAX_DEPTH) visit(code, { ...place, depth: place.depth + 1 });
}

function bindAndVisit(pattern: SyntaxNode, place: Reader): void {
  if (place.depth >= MAX_DEPTH) return;
  for (const each of bindNames(pattern, place)) visit(each, { ...place, depth: place.depth + 1 });
}

function assignment(node: SyntaxNode, place: Reader): void {
  const [left, right] = [node.field("left"), node.field("right")];
  if (!left || !right || place.depth >= MAX_DEPTH) return;
  const inner = { ...place, depth: place.depth + 1 };
  const isPlain = node.type === "assignment" || node.field("operator")?.type === "||=";
  const value = isPlain ? valueOf(right, place) : UNKNOWN;
  switch (left.type) {
    case "identifier":
      bindVariable(left.text, value, place);
      break;
    case "instance_variable":
    case "class_variable":
      bindInstance(left, value, place);
      break;
    case "constant":
    case "scope_resolution":
      if (constantAssignment(left, right, value, inner)) return;
      break;
    case "call":
      setter(left, inner);
      break;
    default:
      if (isPlain && bindParallel(left, right, place)) break;
      if (left.type === "element_reference") children(left, inner);
      else bindAndVisit(left, inner);
  }
  visit(right, inner);
}

/** `x.name = …` calls `name=`; it is known by the name of the attribute. */
function setter(node: SyntaxNode, place: Reader): void {
  const [name, receiver] = [node.field("method"), node.field("receiver")];
  if (!name || !receiver) return;
  use(name, calledOn(receiver, `${name.text}=`, place), place);
  visit(receiver, place);
}

/** A constant, which is a class if `Class.new`, `Struct.new` or the like makes it: its block is then read as the body. */
function constantAssignment(left: SyntaxNode, right: SyntaxNode, value: Expression, place: Reader): boolean {
  const { file, nesting, scope } = place;
  const path = pathOf(left);
  if (path === undefined) return false;
  const full = fullName(path, nesting);
  const made = right.type === "call" ? right.field("receiver") : undefined;
  const alias = constantOf(right, place);
  if (made && isClassMaker(made, right.field("method")?.text ?? "")) {
    const body = openBody(full, left.row + 1, place);
    const args = right.field("arguments")?.namedChildren ?? [];
    if (made.text === "Class" && args[0]) inherit(args[0], body, place);
    else if (made.text === "Module") file.member(body.opened, IS_MODULE, left.row + 1);
    else attributes(args, body, place);
    for (const each of args) visit(each, place);
    const block = right.field("block");
    if (block) blockBody(block, inside(body, place, file.inner(scope, path)));
    return true;
  }
  if (alias) file.bind(file.top, full, { is: "alias", of: alias });
  else file.bind(file.top, full, { is: "variable", line: left.row + 1, value });
  return false;
}
