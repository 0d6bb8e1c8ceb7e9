/** Expressions and types of C#, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import {
  type Expression,
  instanceOf,
  type Scope,
  stepInto,
  superclassOf,
  UNKNOWN,
  withArguments,
} from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import type { Place as BasePlace } from "./walk.ts";
import { wordSet } from "../../lib/word-set.ts";
import { ELEMENT, ENTRY, LIST, MAP } from "./wrapped.ts";

/** A namespace of a file. */
export interface Names {
  namespace: string;
  /** Where its types are bound. */
  scope: Scope;
  /** Classes of `using static`, whose static members the file uses by their bare names. */
  statics: Expression[];
}

export interface Place extends BasePlace {
  names: Names;
  /** Whether other files may declare members of the class around. */
  isPartial: boolean;
}

/** Key of a type: those of one name differ by how many type parameters they have. */
export const typeKey = (name: string, parameters = 0): string => (parameters === 0 ? name : `${name}\`${parameters}`);

/** A name, and the number of its type arguments: `Foo<A, B>`. */
export function partsOf(node: SyntaxNode): { name: SyntaxNode; args: number } {
  const name = node.type === "generic_name" ? (node.namedChild(0) ?? node) : node;
  return { name, args: node.childOfType("type_argument_list")?.namedChildren.length ?? 0 };
}

const named = (name: string, { scope, names }: Place): Expression => ({
  is: "name",
  name,
  scope,
  otherwise: { is: "import", module: names.namespace, name },
});

/** A name in an expression: where the file does not bind it, it may be inherited, or of another part of the class. */
const value = (name: string, place: Place): Expression =>
  orMember(name, place, (place.scope.own?.bases.length ?? 0) > 0);

/** A name; where the file does not bind it, it may be a member that another part of the class declares, or that the class inherits. */
function orMember(name: string, place: Place, isInherited: boolean): Expression {
  const { own } = place.scope;
  const of = named(name, place);
  if (of.is !== "name" || !of.otherwise || !own || (!isInherited && !place.isPartial)) return of;
  const inherited: Expression = { is: "member", of: { is: "class", line: own.line }, name };
  return { ...of, otherwise: { is: "first", of: inherited, otherwise: of.otherwise } };
}

const asType = (of: Expression): Expression => (of.is === "name" ? { ...of, isType: true } : of);

/** The last name of a type: `C` of `A.B.C<T>`. */
export function lastOf(node: SyntaxNode): SyntaxNode {
  const last = node.type === "qualified_name" ? (node.field("name") ?? node) : node;
  return partsOf(last).name;
}

/** The name of what is called, and the key of the member that it is. */
function keyOf(node: SyntaxNode, call: SyntaxNode): { name: SyntaxNode; key: string } {
  const { name } = partsOf(node);
  return { name, key: `${name.text}/${argumentsOf(call)}` };
}

const argumentsOf = (call: SyntaxNode): number =>
  call.field("arguments")?.namedChildren.filter(({ type }) => type === "argument").length ?? 0;

/** What an invocation calls; undefined for what an expression gives. */
export function calledIn(node: SyntaxNode, place: Place, depth = 0): { name: SyntaxNode; of: Expression } | undefined {
  const called = node.field("function");
  if (!called) return undefined;
  switch (called.type) {
    case "identifier":
    case "generic_name": {
      const { name, key } = keyOf(called, node);
      return { name, of: unqualified(key, place) };
    }
    case "member_access_expression":
    case "conditional_access_expression": {
      const member = memberIn(called);
      if (!member) return undefined;
      const { name, key } = keyOf(member.name, node);
      return { name, of: { is: "member", of: expressionOf(member.of, place, depth + 1), name: key } };
    }
    default:
      return undefined;
  }
}

/** `a.b` or `a?.b`. */
function memberIn(node: SyntaxNode): { of: SyntaxNode; name: SyntaxNode } | undefined {
  const binding = node.childOfType("member_binding_expression");
  const of = node.field("expression") ?? node.field("condition");
  const name = binding ? binding.field("name") : node.field("name");
  return of && name && { of, name };
}

/** A method that is called without a receiver: of a class around, a local function, inherited, or of a class that `using static` names. */
function unqualified(key: string, { scope, names }: Place): Expression {
  const inherited: Expression = scope.own
    ? { is: "member", of: { is: "class", line: scope.own.line }, name: key }
    : UNKNOWN;
  const [first, ...others] = names.statics.map((of): Expression => ({ is: "member", of, name: key }));
  if (!first) return { is: "name", name: key, scope, otherwise: inherited };
  const used = others.reduce((of, otherwise): Expression => ({ is: "first", of, otherwise }), first);
  // It may be inherited from a class that is not known.
  const imported: Expression = scope.own?.bases.length ? { is: "likely", of: used } : used;
  return { is: "name", name: key, scope, otherwise: { is: "first", of: inherited, otherwise: imported } };
}

export function expressionOf(node: SyntaxNode, place: Place, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "identifier":
      return value(node.text, place);
    case "generic_name":
      return typeOf(node, place);
    case "this":
      return place.scope.own ? { is: "class", line: place.scope.own.line } : UNKNOWN;
    case "base":
      return superclassOf(place.scope.own);
    case "member_access_expression":
    case "conditional_access_expression": {
      const member = memberIn(node);
      if (!member) return UNKNOWN;
      const { name, args } = partsOf(member.name);
      return { is: "member", of: expressionOf(member.of, place, depth + 1), name: typeKey(name.text, args) };
    }
    case "invocation_expression": {
      const called = calledIn(node, place, depth);
      return called ? { is: "call", of: called.of } : UNKNOWN;
    }
    case "object_creation_expression":
    case "cast_expression":
    case "array_creation_expression":
      return valueOfType(node.field("type"), place);
    case "implicit_object_creation_expression": {
      const type = typeAround(node);
      return type ? valueOfType(type, place) : UNKNOWN;
    }
    case "element_access_expression":
      return elementOf(node.field("expression"), ELEMENT, place, depth);
    case "assignment_expression": {
      const right = node.field("right");
      return right && /^(?:\?\?)?=$/.test(node.field("operator")?.text ?? "")
        ? expressionOf(right, place, depth + 1)
        : UNKNOWN;
    }
    case "as_expression":
      return valueOfType(node.field("right"), place);
    case "parenthesized_expression":
    case "await_expression": {
      const child = node.namedChild(0);
      return child ? expressionOf(child, place, depth + 1) : UNKNOWN;
    }
    case "postfix_unary_expression": {
      // `a!` is `a`.
      const child = node.namedChild(0);
      return child && node.text.endsWith("!") ? expressionOf(child, place, depth + 1) : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}

/** What an index or a loop takes from a value. */
export function elementOf(of: SyntaxNode | undefined, step: string, place: Place, depth = 0): Expression {
  const from = of ? expressionOf(of, place, depth + 1) : UNKNOWN;
  return stepInto(from, step);
}

/** The values between which an expression chooses: `a ?? b` and `c ? a : b`. */
export function choices(node: SyntaxNode): (SyntaxNode | undefined)[] | undefined {
  if (node.type === "conditional_expression") return [node.field("consequence"), node.field("alternative")];
  const isChoice = node.type === "binary_expression" && node.field("operator")?.text === "??";
  return isChoice ? [node.field("left"), node.field("right")] : undefined;
}

/** The type that is written down for what is made by `new(…)`: of the variable, property or method that gets it. */
export function typeAround(node: SyntaxNode): SyntaxNode | undefined {
  let around = node.parent;
  if (around && /^(?:arrow_expression_clause|equals_value_clause)$/.test(around.type)) around = around.parent;
  if (around?.type === "variable_declarator") around = around.parent;
  const type = around?.field("type") ?? around?.field("returns");
  return type?.type === "implicit_type" ? undefined : type;
}

function valueOfType(node: SyntaxNode | undefined, place: Place): Expression {
  return instanceOf(node ? typeOf(node, place) : UNKNOWN);
}

/** Types whose value, awaited, is that of their argument. */
const TASKS: ReadonlySet<string> = new Set(["Task", "ValueTask"]);

const LISTS: ReadonlySet<string> = wordSet(
  "Collection ConcurrentBag ConcurrentQueue ConcurrentStack FrozenSet HashSet IAsyncEnumerable ICollection IEnumerable IEnumerator IImmutableList " +
    "IList ImmutableArray ImmutableHashSet ImmutableList IOrderedEnumerable IQueryable IReadOnlyCollection IReadOnlyList IReadOnlySet ISet LinkedList List " +
    "ObservableCollection Queue ReadOnlyCollection ReadOnlySpan SortedSet Span Stack",
);
const MAPS: ReadonlySet<string> = wordSet(
  "ConcurrentDictionary Dictionary FrozenDictionary IDictionary ImmutableDictionary IReadOnlyDictionary ReadOnlyDictionary SortedDictionary SortedList",
);

/** A type of the standard library that holds values, by the type of its values; unknown for other types. */
function heldType(node: SyntaxNode, place: Place, depth: number): Expression {
  const { name, args } = partsOf(node);
  const given = node.childOfType("type_argument_list")?.namedChildren ?? [];
  const of = given[args - 1];
  if (of && args === 1 && LISTS.has(name.text)) return stepInto(typeOf(of, place, depth + 1), LIST);
  if (!of || args !== 2) return UNKNOWN;
  if (MAPS.has(name.text)) return stepInto(typeOf(of, place, depth + 1), MAP);
  return name.text === "KeyValuePair" ? stepInto(typeOf(of, place, depth + 1), ENTRY) : UNKNOWN;
}

/** A declared type: `T`, `T?`, `A.B.T`, `Outer.T`, `T<…>`, `Task<T>`, `T[]`, `List<T>`. Primitive types have no members of their own. */
export function typeOf(node: SyntaxNode, place: Place, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "identifier":
      return asType(orMember(node.text, place, false));
    case "generic_name": {
      const { name, args } = partsOf(node);
      const given = node.childOfType("type_argument_list")?.namedChildren ?? [];
      const [only] = given;
      if (TASKS.has(name.text) && args === 1 && only) return typeOf(only, place, depth + 1);
      const own = withArguments(
        asType(orMember(typeKey(name.text, args), place, false)),
        given.map((each) => typeOf(each, place, depth + 1)),
      );
      const held = heldType(node, place, depth);
      // The repository may have a type of that name itself.
      return held.is === "unknown" ? own : { is: "first", of: own, otherwise: held };
    }
    case "array_type": {
      const of = node.field("type");
      return of ? stepInto(typeOf(of, place, depth + 1), LIST) : UNKNOWN;
    }
    case "nullable_type": {
      const child = node.namedChild(0);
      return child ? typeOf(child, place, depth + 1) : UNKNOWN;
    }
    case "qualified_name": {
      const [of, last] = [node.field("qualifier"), node.field("name")];
      if (!of || !last) return UNKNOWN;
      if (last.type === "generic_name" && /^(?:global::)?System\./.test(of.text)) return typeOf(last, place, depth + 1);
      const { name, args } = partsOf(last);
      const key = typeKey(name.text, args);
      // By custom, one name is that of a class around, several are a namespace.
      if (of.type !== "qualified_name" && of.type !== "alias_qualified_name")
        return { is: "member", of: typeOf(of, place, depth + 1), name: key };
      return { is: "import", module: of.text.replace("global::", ""), name: key };
    }
    case "primary_constructor_base_type": {
      const type = node.field("type");
      return type ? typeOf(type, place, depth + 1) : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}
