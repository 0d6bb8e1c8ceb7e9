/** What names and objects of TypeScript and JavaScript are bound to by patterns, loops and assignments. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { commonExports } from "./commonjs.ts";
import { type Expression, holderOf, lookUp, type OpenClass, type Scope, UNKNOWN } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { MAX_DEPTH, MAX_EXPRESSION_DEPTH } from "./limits.ts";
import {
  expressionOf,
  FUNCTION,
  givenValues,
  objectOf,
  ownOf,
  type Place,
  valuesInArray,
} from "./typescript-expressions.ts";
import { typeOf } from "./typescript-types.ts";
import { WHOLE_MODULE } from "./types.ts";
import { ITERATED, PLACE, SECOND_PLACE } from "./wrapped.ts";

/** The value at the end of `a = b = value`; where `module.exports` is among them, the variable is what the module exports. */
export function assignedTo(
  value: SyntaxNode | undefined,
  name: SyntaxNode | undefined,
  file: FileBuilder,
  scope: Scope,
): SyntaxNode | undefined {
  let at = value;
  for (let depth = 0; at?.type === "assignment_expression" && depth < MAX_EXPRESSION_DEPTH; depth++) {
    if (name && scope === file.top && at.field("left")?.text === WHOLE_MODULE)
      file.exportAs(WHOLE_MODULE, { is: "name", name: name.text, scope });
    at = at.field("right");
  }
  return at;
}

/** Binds the variables of a loop over elements. */
export function loopVariable(node: SyntaxNode, place: Place): void {
  const [left, right] = [node.field("left"), node.field("right")];
  const isOf = node.children.some(({ type }) => type === "of");
  const over = isOf && right ? expressionOf(right, place.scope.outer ?? place.scope) : UNKNOWN;
  pattern(left, place, over.is === "unknown" ? undefined : { is: "member", of: over, name: ITERATED });
}

/** What gets a member by an assignment: the class of `this`, or a function, class or object with a name (`a.b = …`, `A.prototype.b = …`). */
export function ownerOf(left: SyntaxNode, { file, scope }: Place): OpenClass | undefined {
  const object = left.field("object");
  if (object?.type === "this") return scope.own;
  const isPrototype = object?.type === "member_expression" && object.field("property")?.text === "prototype";
  const named = isPrototype ? object.field("object") : object;
  if (named?.type !== "identifier") return undefined;
  const binding = lookUp(scope, named.text);
  if (binding?.is === "definition") return file.classAt(binding.line);
  if (binding?.is !== "variable" || binding.type || binding.at === undefined) return undefined;
  if (binding.value?.is === "class") return file.classAt(binding.value.line);
  const opened = file.classAt(binding.at);
  if (binding.value && binding.value.is !== "unknown") opened.bases.push(binding.value);
  binding.value = { is: "class", line: binding.at };
  return opened;
}

/** What `this` means in a function expression: the object that it is assigned to, or what it means around an arrow function. */
export function thisOf(node: SyntaxNode, place: Place): OpenClass | undefined {
  if (node.type === "arrow_function") return ownOf(node, place.scope);
  const around = node.parent;
  const left = around?.type === "assignment_expression" ? around.field("left") : undefined;
  return left?.type === "member_expression" ? ownerOf(left, place) : undefined;
}

/** Binds the names of a pattern to the parts of a value. */
export function pattern(node: SyntaxNode | undefined, place: Place, value?: Expression): void {
  if (!node || place.depth >= MAX_DEPTH) return;
  const inner = { ...place, depth: place.depth + 1 };
  const part = (name: string): Expression | undefined => value && { is: "member", of: value, name };
  // What is called by such a name is the member, as long as nothing else was put there.
  const likely = (of: Expression | undefined): Expression | undefined => of && { is: "likely", of };
  if (node.type === "identifier") bindPart(node.text, value, place);
  else if (node.type === "shorthand_property_identifier_pattern") bindPart(node.text, likely(part(node.text)), place);
  else if (node.type === "pair_pattern")
    pattern(node.field("value"), inner, likely(part(node.field("key")?.text ?? "")));
  else if (node.type.endsWith("assignment_pattern")) pattern(node.field("left"), inner, value);
  else if (node.type === "array_pattern")
    for (const [child, at] of placesIn(node)) pattern(child, inner, part(at === 1 ? SECOND_PLACE : PLACE));
  else if (node.type === "rest_pattern") for (const child of node.namedChildren) pattern(child, inner);
  else if (node.type.endsWith("_pattern")) for (const child of node.namedChildren) pattern(child, inner, value);
}

/** The parts of an array pattern with their places: `[, b]` has only the second. */
function placesIn(node: SyntaxNode): [part: SyntaxNode, at: number][] {
  let at = 0;
  const parts: [SyntaxNode, number][] = [];
  for (const child of node.children)
    if (child.type === ",") at++;
    else if (!/^[[\]]$/.test(child.type)) parts.push([child, at]);
  return parts;
}

/** Binds the names of a pattern to a value, whose parts may be written down: `const [a, b] = await Promise.all([f(), g()])`. */
export function destructured(
  node: SyntaxNode,
  type: SyntaxNode | undefined,
  value: SyntaxNode | undefined,
  place: Place,
): void {
  if (type) return pattern(node, place, typeOf(type, place.scope));
  const values = node.type === "array_pattern" ? valuesInArray(value, place.scope) : undefined;
  if (!values) return pattern(node, place, value && expressionOf(value, place.scope));
  for (const [child, at] of placesIn(node)) {
    const own = values[at];
    pattern(child, place, own && expressionOf(own, place.scope));
  }
}

/** A part of a value may be a function itself, so that calls of its name are calls of that. */
const bindPart = (name: string, value: Expression | undefined, { file, scope }: Place): void =>
  file.bind(
    scope,
    name,
    value?.is === "member" || value?.is === "likely" ? { is: "alias", of: value } : { is: "variable", type: value },
  );

/** An object literal whose members are still to be read, and what stands for it. */
interface HeldObject {
  node: SyntaxNode;
  opened: OpenClass;
  is: Expression;
}

/**
 * The object literal that a field is given; its members are those of `opened`, or of a class of its own. Undefined where another class begins on the
 * same line, since classes are told apart by their lines.
 */
export function heldObject(
  value: SyntaxNode | undefined,
  line: number,
  file: FileBuilder,
  opened?: OpenClass,
): HeldObject | undefined {
  const node = opened || !file.hasClass(line) ? objectOf(value) : undefined;
  return node && { node, opened: opened ?? file.openClass(line), is: { is: "class", line: opened?.line ?? line } };
}

/**
 * `this.store = new Store()` gives a field its type, in JavaScript the field itself. Returns the object literal that the
 * field is given, if it is one.
 */
export function fieldAssignment(node: SyntaxNode, place: Place): HeldObject | undefined {
  const { file, scope } = place;
  const left = node.field("left");
  const right = assignedTo(node.field("right"), undefined, file, scope);
  if (!left || !right) return undefined;
  if (scope === file.top) commonExports(left, right, file, (value) => expressionOf(value, scope));
  // The functions of a module that exports an object call one another by `this`.
  if (left.text === WHOLE_MODULE) return heldObject(right, right.row + 1, file);
  const field = left.field("property");
  const owner = left.type === "member_expression" && field ? ownerOf(left, place) : undefined;
  if (owner && field) {
    const line = field.row + 1;
    const isFunction = FUNCTION.test(right.type) || right.type === "class";
    const object = heldObject(right, line, file, field.text === "prototype" ? owner : undefined);
    const values = isFunction ? [undefined] : object ? [object.is] : givenValues(right, scope);
    // A field of `this` is known by the class, whatever it holds; other objects may have it from elsewhere.
    for (const of of values)
      if (isFunction || owner === scope.own || (of && of.is !== "unknown")) file.member(owner, field.text, line, of);
    return object;
  } else if (left.type === "identifier") {
    let holder = holderOf(scope, left.text);
    for (; holder?.binds; holder = holderOf(holder, left.text)) holder.names.delete(left.text);
    const known = holder?.names.get(left.text)?.is;
    if (holder && (known === "variable" || known === "several"))
      for (const value of givenValues(right, scope)) file.bind(holder, left.text, { is: "variable", value });
  }
  return undefined;
}

/**
 * The declared type of a field on a line; undefined for a function, which is known by the field itself. `member` reads the members of a type that is
 * written there, as those of a class on the line.
 */
export function fieldType(
  type: SyntaxNode,
  line: number,
  place: Place,
  member: (node: SyntaxNode, opened: OpenClass, place: Place) => void,
): Expression | undefined {
  const [inner] = type.namedChildren;
  if (inner?.type === "function_type") return undefined;
  const of = typeOf(type, place.scope);
  if (inner?.type !== "object_type" || of.is !== "unknown" || place.file.hasClass(line)) return of;
  const opened = place.file.openClass(line);
  if (place.depth < MAX_DEPTH)
    for (const each of inner.namedChildren) member(each, opened, { ...place, depth: place.depth + 1 });
  return { is: "class", line };
}
