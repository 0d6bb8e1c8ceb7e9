/** Expressions of Ruby, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, instanceOf, lookUp, NOTHING, oneOfValues, type OpenClass, UNKNOWN } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { branchesOf, leaves } from "./ruby-branches.ts";
import { constantIn, functionKey, JOB_CALLS, type Level, memberKey } from "./ruby-keys.ts";
import type { Place as BasePlace } from "./walk.ts";

/** A class or module while its file is read. */
export interface Body {
  opened: OpenClass;
  /** Its full name; undefined for a block in which methods are defined. */
  full: string | undefined;
  /** Methods are functions of the module too: `module_function` was written. */
  isFunctions: boolean;
}

export interface Place extends BasePlace {
  /** Full names of the enclosing modules, the innermost first. */
  nesting: readonly string[];
  /** The enclosing class or module; undefined at the top level. */
  body: Body | undefined;
  /** Whether `self` is an instance of `body` or `body` itself. */
  level: Level;
  /** Whether `self` is known: a block may be run with another one. */
  self: "sure" | "unsure" | "unknown";
  /** Name of the enclosing method. */
  method: string | undefined;
  /** Values that the enclosing method returns. */
  results: Expression[] | undefined;
}

export const isConstant = ({ type }: SyntaxNode): boolean => type === "constant" || type === "scope_resolution";

/** A constant by its written path: `A`, `A::B` or `::A`; undefined for a constant of an expression. */
export function constantOf(node: SyntaxNode, { nesting }: Place): Expression | undefined {
  const path = pathOf(node);
  if (path === undefined) return undefined;
  return path.startsWith("::") ? constantIn([], path.slice(2)) : constantIn(nesting, path);
}

/** The path of a constant as it is written. */
export function pathOf(node: SyntaxNode): string | undefined {
  if (!isConstant(node)) return undefined;
  const path = node.text.replaceAll(/\s/g, "");
  return /^(?:::)?\p{Lu}[\p{L}\p{N}_]*(?:::\p{Lu}[\p{L}\p{N}_]*)*$/u.test(path) ? path : undefined;
}

/** A member of `self`. */
export function ownMember(name: string, { body, level, self }: Place): Expression {
  if (self === "unknown") return UNKNOWN;
  const of: Expression = body
    ? { is: "member", of: { is: "class", line: body.opened.line }, name: memberKey(level, name) }
    : constantIn([], functionKey(name));
  return self === "unsure" ? { is: "likely", of } : of;
}

/** An instance variable of `self`. */
function variableOf(name: string, { body, level, self }: Place): Expression {
  if (!body || self === "unknown") return UNKNOWN;
  return { is: "member", of: { is: "class", line: body.opened.line }, name: memberKey(level, name) };
}

/** The method that a bare name calls; undefined if it is a variable. */
export function bareCall(node: SyntaxNode, place: Place): Expression | undefined {
  return lookUp(place.scope, node.text) ? undefined : ownMember(node.text, place);
}

/** Methods that return their receiver, or a copy of it. */
const SAME = /^(?:freeze|dup|clone|itself|tap)$/;
const LITERALS: Readonly<Record<string, string>> = {
  string: "String",
  array: "Array",
  string_array: "Array",
  symbol_array: "Array",
  hash: "Hash",
  integer: "Integer",
  float: "Float",
  simple_symbol: "Symbol",
  delimited_symbol: "Symbol",
  regex: "Regexp",
  range: "Range",
};

/** The method that a call means, for what a variable or another call may be; `name` is that of the method. */
export function calledOn(called: SyntaxNode, name: string, place: Place, depth = 0): Expression {
  // `Job.set(wait: 5).perform_later`
  const isSet = JOB_CALLS.has(name) && called.type === "call" && called.field("method")?.text === "set";
  const receiver = (isSet ? called.field("receiver") : undefined) ?? called;
  if (receiver.type === "self") return ownMember(name, place);
  if (isConstant(receiver)) {
    const of = constantOf(receiver, place);
    return of ? { is: "member", of, name: memberKey("+", name) } : UNKNOWN;
  }
  if (isOwnClass(receiver) && place.body && place.level === "-" && place.self !== "unknown")
    return { is: "likely", of: ownMember(name, { ...place, level: "+" }) };
  const literal = LITERALS[receiver.type];
  const of = literal === undefined ? valueOf(receiver, place, depth + 1) : constantIn([], literal);
  // A value that is a class itself is not followed.
  if (of.is === "unknown") return UNKNOWN;
  return { is: "member", of, name: memberKey("-", name) };
}

/** `self.class` */
const isOwnClass = (node: SyntaxNode): boolean => node.type === "call" && /^self\s*\.\s*class$/.test(node.text);

/** Whether a call makes an object of a class that is known: `A.new`, `new` in a method of the class, `self.class.new`. */
export function madeBy(node: SyntaxNode, place: Place): Expression | undefined {
  const receiver = node.field("receiver");
  const { body, level } = place;
  if (receiver && isConstant(receiver)) return calledOn(receiver, "new", place);
  if (body?.full === undefined || place.self === "unknown") return undefined;
  const isOwn = receiver ? isOwnClass(receiver) || (receiver.type === "self" && level === "+") : level === "+";
  if (!isOwn) return undefined;
  // It may be a subclass.
  return {
    is: "likely",
    of: { is: "member", of: { is: "class", line: body.opened.line }, name: memberKey("+", "new") },
  };
}

/** The object that an expression gives; unknown for a class itself, and for what is not followed. */
export function valueOf(node: SyntaxNode, place: Place, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  if (leaves(node)) return NOTHING;
  switch (node.type) {
    case "identifier": {
      const called = bareCall(node, place);
      if (node.text === "new" && called) return madeOf(node, place);
      if (called) return instanceOf(called);
      return { is: "name", name: node.text, scope: place.scope };
    }
    case "self":
      return place.body && place.level === "-" && place.self === "sure"
        ? { is: "class", line: place.body.opened.line }
        : UNKNOWN;
    case "instance_variable":
    case "class_variable":
      return variableOf(node.text, place);
    case "call": {
      const [receiver, method] = [node.field("receiver"), node.field("method")];
      if (!method) return UNKNOWN;
      if (method.text === "new") return madeOf(node, place);
      if (receiver && SAME.test(method.text) && !isConstant(receiver)) return valueOf(receiver, place, depth + 1);
      return instanceOf(receiver ? calledOn(receiver, method.text, place, depth + 1) : ownMember(method.text, place));
    }
    case "element_reference": {
      // `A[…]` usually makes one.
      const of = node.field("object");
      const made = of && isConstant(of) ? calledOn(of, "[]", place) : UNKNOWN;
      return instanceOf(made);
    }
    case "assignment":
    case "operator_assignment": {
      const value = node.field("right");
      return value ? valueOf(value, place, depth + 1) : UNKNOWN;
    }
    case "nil":
      return NOTHING;
    default:
      return branchValue(node, place, depth);
  }
}

/** The value of one of some branches, as far as they agree. */
function branchValue(node: SyntaxNode, place: Place, depth: number): Expression {
  const branches = branchesOf(node);
  if (!branches) return UNKNOWN;
  const values = branches.map((each) => (each ? valueOf(each, place, depth + 1) : NOTHING));
  const [first, ...others] = values;
  return first && others.length === 0 ? first : oneOfValues(values.map((value) => asValue(value)));
}

function madeOf(node: SyntaxNode, place: Place): Expression {
  const of = madeBy(node, place);
  return of ? { is: "call", of } : UNKNOWN;
}

/** A value of a variable, member or method: `FileBuilder` takes a plain name or member for a class. */
export const asValue = (of: Expression): Expression =>
  of.is === "name" || of.is === "member" ? { is: "call", of } : of.is === "import" ? UNKNOWN : of;

/** The text of a symbol or string that is written out. */
export function textOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "simple_symbol") return node.text.slice(1);
  return node?.type === "string" && node.namedChildren.length === 1
    ? node.childOfType("string_content")?.text
    : undefined;
}
