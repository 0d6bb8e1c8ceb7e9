/** Expressions and types of Java, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import {
  type Expression,
  givenOr,
  isBoundWithin,
  lookUp,
  lookUpType,
  type OpenClass,
  type Scope,
  UNKNOWN,
  withArguments,
} from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { nameInPackage, type Place as BasePlace } from "./walk.ts";
import { methodKey } from "./members.ts";
import { ANY_TYPE, FUNCTION_TYPE } from "./overloads.ts";
import { ELEMENT, ENTRY, LIST, MAP } from "./wrapped.ts";

export interface Place extends BasePlace {
  package: string;
  /** Classes that names are statically imported from, by the name. */
  statics: Map<string, Expression>;
}

/** The last name of a type: `C` of `a.b.C<T>`. */
export function lastOf(node: SyntaxNode, depth = 0): SyntaxNode {
  if (depth > MAX_EXPRESSION_DEPTH || /^(?:type_)?identifier$/.test(node.type)) return node;
  if (node.type === "annotated_type") return lastOf(node.namedChildren.at(-1) ?? node, depth + 1);
  if (node.type === "generic_type") return lastOf(node.namedChild(0) ?? node, depth + 1);
  return node.type.startsWith("scoped_") ? lastOf(node.namedChildren.at(-1) ?? node, depth + 1) : node;
}

export function expressionOf(node: SyntaxNode, place: Place, isCalled = false, depth = 0): Expression {
  const { scope } = place;
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "identifier":
      return value(node.text, place);
    case "this":
      return scope.own ? { is: "class", line: scope.own.line } : UNKNOWN;
    case "super":
      return scope.own ? { is: "base", of: scope.own } : UNKNOWN;
    case "field_access": {
      const [object, field] = [node.field("object"), node.field("field")];
      if (field?.type === "this" && object) return expressionOf(object, place, false, depth + 1);
      return object && field ? qualified(node, object, field.text, place, depth) : UNKNOWN;
    }
    case "method_invocation": {
      const [object, name] = [node.field("object"), node.field("name")?.text ?? ""];
      const key = keyOfCall(name, node.field("arguments"), place);
      const called: Expression = object
        ? { is: "member", of: expressionOf(object, place, false, depth + 1), name: key }
        : unqualified(name, key, place);
      return isCalled ? called : { is: "call", of: called };
    }
    case "object_creation_expression": {
      const type = node.field("type");
      // An anonymous class is another one than its base, but has its members.
      return type ? { is: "call", of: typeOf(type, place) } : UNKNOWN;
    }
    case "cast_expression": {
      const type = node.field("type");
      const of = type && typeOf(type, place);
      return of && of.is !== "unknown" ? { is: "call", of } : UNKNOWN;
    }
    case "array_access": {
      const array = node.field("array");
      const of = array ? expressionOf(array, place, false, depth + 1) : UNKNOWN;
      return of.is === "unknown" ? UNKNOWN : { is: "member", of, name: ELEMENT };
    }
    case "parenthesized_expression": {
      const child = node.namedChild(0);
      return child ? expressionOf(child, place, false, depth + 1) : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}

/** `a.b`: a field of a value, or a class by its whole name. */
function qualified(node: SyntaxNode, object: SyntaxNode, field: string, place: Place, depth: number): Expression {
  if (/^[\p{Ll}\d_.]+\.\p{Lu}[\p{L}\d_]*$/u.test(node.text.slice(0, 300)) && !place.scope.names.has(object.text)) {
    const first = node.text.split(".")[0] ?? "";
    if (isUnbound(first, place.scope)) return { is: "import", module: object.text, name: field };
  }
  return { is: "member", of: expressionOf(object, place, false, depth + 1), name: field };
}

function isUnbound(name: string, scope: Scope): boolean {
  for (let at: Scope | undefined = scope; at; at = at.outer) if (at.names.has(name)) return false;
  return true;
}

/** A method that is called without a receiver: of a class around, inherited, or statically imported. */
function unqualified(name: string, key: string, { scope, statics }: Place): Expression {
  const imported = statics.get(name);
  const own: Expression = scope.own ? { is: "member", of: { is: "class", line: scope.own.line }, name: key } : UNKNOWN;
  const bare = key.replace(/\(.*/, "");
  return {
    is: "name",
    name: bare,
    called: key,
    scope,
    otherwise: imported ? { is: "member", of: imported, name: key } : (inherited(key, scope) ?? own),
  };
}

/** A name in an expression: where the file does not bind it, it may be an inherited field. By custom, a name like `Words` is a class. */
function value(name: string, place: Place): Expression {
  const field = /^\p{Lu}.*\p{Ll}/u.test(name) ? undefined : inherited(name, place.scope);
  return field ? { is: "name", name, scope: place.scope, otherwise: field } : named(name, place);
}

/** Classes around a name whose inherited members are looked up. */
const MAX_CLASSES = 3;

/** A member that the class around a name or one around that inherits, the innermost one first; undefined if none has a base. */
function inherited(name: string, scope: Scope): Expression | undefined {
  const classes = new Set<OpenClass>();
  for (let at: Scope | undefined = scope; at && classes.size < MAX_CLASSES; at = at.outer)
    if (at.own && at.own.bases.length > 0) classes.add(at.own);
  const members = Array.from(classes, ({ line }): Expression => ({ is: "member", of: { is: "class", line }, name }));
  return members.length === 0 ? undefined : members.reduceRight((rest, of) => ({ is: "first", of, otherwise: rest }));
}

const named = (name: string, { scope, package: own }: Place): Expression => nameInPackage(name, scope, own);

/** A declared type: `T`, `a.b.T`, `Outer.T`, `T<…>`. Primitive types have no members of their own. */
export function typeOf(node: SyntaxNode, place: Place, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "identifier":
    case "type_identifier":
      return named(node.text, place);
    case "generic_type": {
      const child = node.namedChild(0);
      if (!child) return UNKNOWN;
      const wrapping = wrappingOf(child.text, place.scope);
      const given = node.childOfType("type_arguments")?.namedChildren ?? [];
      const argument = given[wrapping === MAP || wrapping === ENTRY ? 1 : 0];
      if (wrapping === undefined || !argument)
        return withArguments(
          typeOf(child, place, depth + 1),
          given.map((each) => typeOf(each, place, depth + 1)),
        );
      const of = typeOf(argument, place, depth + 1);
      return of.is === "unknown" ? UNKNOWN : { is: "member", of, name: wrapping };
    }
    case "array_type": {
      const child = node.namedChild(0);
      const of = child ? typeOf(child, place, depth + 1) : UNKNOWN;
      return of.is === "unknown" ? UNKNOWN : { is: "member", of, name: LIST };
    }
    case "wildcard": {
      const bound = node.children.some(({ type }) => type === "super") ? undefined : node.namedChildren.at(-1);
      return bound ? typeOf(bound, place, depth + 1) : UNKNOWN;
    }
    case "annotated_type": {
      const child = node.namedChildren.at(-1);
      return child ? typeOf(child, place, depth + 1) : UNKNOWN;
    }
    case "scoped_type_identifier":
    case "scoped_identifier": {
      const [of, name] = [node.namedChild(0), node.namedChildren.at(-1)];
      if (!of || !name) return UNKNOWN;
      if (/^[\p{Ll}\d_.]+$/u.test(of.text)) return { is: "import", module: of.text, name: name.text };
      return { is: "member", of: typeOf(of, place, depth + 1), name: name.text };
    }
    default:
      return UNKNOWN;
  }
}

const LISTS =
  /^(?:List|ArrayList|LinkedList|Collection|Set|HashSet|LinkedHashSet|TreeSet|SortedSet|EnumSet|Iterable|Iterator|ListIterator|Queue|Deque|ArrayDeque|PriorityQueue|Stack|Vector|Stream|Optional|Supplier|CopyOnWriteArrayList|AtomicReference|ThreadLocal|ImmutableList|ImmutableSet)$/;
const MAPS =
  /^(?:Map|HashMap|LinkedHashMap|TreeMap|SortedMap|NavigableMap|ConcurrentMap|ConcurrentHashMap|EnumMap|WeakHashMap|IdentityHashMap|ImmutableMap)$/;

/** How a generic type of the standard library holds its last argument; undefined for other types, among them those of the repository. */
function wrappingOf(name: string, scope: Scope): string | undefined {
  const binding = lookUp(scope, name);
  if (binding && !(binding.is === "import" && /^(?:java|com\.google\.common)\./.test(binding.module))) return undefined;
  if (LISTS.test(name)) return LIST;
  if (MAPS.test(name)) return MAP;
  return /^(?:Map\.)?Entry$/.test(name) ? ENTRY : undefined;
}

/** Arguments of a call whose types are written down. */
const MAX_ARGUMENTS = 10;

/** A method as it is called: `name/2(String,?)`; without types where none is known. */
function keyOfCall(name: string, list: SyntaxNode | undefined, place: Place): string {
  const given = list?.namedChildren.filter(({ type }) => !/comment/.test(type)) ?? [];
  const key = `${name}/${given.length}`;
  if (given.length === 0 || given.length > MAX_ARGUMENTS) return key;
  const types = given.map((each) => typeNameOf(each, place));
  return types.every((type) => type === ANY_TYPE) ? key : `${key}(${types.join(",")})`;
}

/** The name of a declared type, as overloads are told apart by it; that of a type parameter is not known. */
export function typeName(node: SyntaxNode | undefined, { file, scope }: Place): string {
  if (!node) return ANY_TYPE;
  if (node.type === "array_type") {
    const element = lastOf(node.namedChild(0) ?? node).text;
    return `${element.slice(0, MAX_NAME)}[]`;
  }
  // One that is written with its package is another one than what the file imports under the name.
  const scoped = node.type === "generic_type" ? node.namedChild(0) : node;
  const packaged = scoped?.type === "scoped_type_identifier" ? scoped.text.slice(0, MAX_NAME + 1) : "";
  if (/^\p{Ll}[\p{L}\p{N}_$.]*$/u.test(packaged) && packaged.length <= MAX_NAME)
    return packaged.replace(/^java\.lang\.(?=\p{L}+$)/u, "");
  const { text } = lastOf(node);
  const isParameter = lookUp(scope, text)?.is === "variable" || isBoundWithin(file.top, scope, text);
  return isParameter || !/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(text.slice(0, MAX_NAME + 1)) ? ANY_TYPE : text;
}

const MAX_NAME = 100;

/** The name of an expression's type, as far as it is written in the file. */
export function typeNameOf(node: SyntaxNode, place: Place, depth = 0): string {
  if (depth > MAX_EXPRESSION_DEPTH) return ANY_TYPE;
  switch (node.type) {
    case "string_literal":
      return "String";
    case "character_literal":
      return "char";
    case "decimal_integer_literal":
    case "hex_integer_literal":
      return /l$/i.test(node.text) ? "long" : "int";
    case "decimal_floating_point_literal":
      return /f$/i.test(node.text) ? "float" : "double";
    case "true":
    case "false":
    case "instanceof_expression":
      return "boolean";
    case "null_literal":
      return "null";
    case "class_literal":
      return "Class";
    case "lambda_expression":
    case "method_reference":
      return FUNCTION_TYPE;
    case "cast_expression":
      return typeName(node.field("type"), place);
    case "object_creation_expression":
      return node.childOfType("class_body") ? ANY_TYPE : typeName(node.field("type"), place);
    case "array_creation_expression":
      return node.childOfType("dimensions") || node.childOfType("dimensions_expr")
        ? `${typeName(node.field("type"), place)}[]`
        : ANY_TYPE;
    case "identifier": {
      const binding = lookUp(place.scope, node.text);
      return (binding?.is === "variable" ? binding.typeName : undefined) ?? ANY_TYPE;
    }
    case "field_access": {
      const [object, field] = [node.field("object")?.text ?? "", node.field("field")?.text ?? ""];
      // Usually a constant of an enumeration.
      return /^\p{Lu}\p{Ll}\w*$/u.test(object) && /^[\p{Lu}\d_]+$/u.test(field) ? object : ANY_TYPE;
    }
    case "binary_expression": {
      const parts = [node.field("left"), node.field("right")];
      return parts.some((part) => part && typeNameOf(part, place, depth + 1) === "String") ? "String" : ANY_TYPE;
    }
    case "method_invocation":
      return node.field("name")?.text === "toString" ? "String" : ANY_TYPE;
    case "parenthesized_expression": {
      const child = node.namedChild(0);
      return child ? typeNameOf(child, place, depth + 1) : ANY_TYPE;
    }
    default:
      return ANY_TYPE;
  }
}

/** `x::f`, `C::f` or `C::new`. */
export function reference(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const of = node.namedChild(0);
  const name = node.namedChildren.at(-1);
  if (!of || !name) return;
  const isOfType = of.type.endsWith("type") || of.type.endsWith("type_identifier");
  if (node.children.at(-1)?.type === "new") {
    const named = lastOf(of);
    if (named.type.endsWith("identifier")) file.use("construct", named.text, named.row + 1, scope, typeOf(of, place));
  } else if (name.type === "identifier" && name.id !== of.id) {
    const owner = isOfType ? typeOf(of, place) : expressionOf(of, place);
    file.reference(name.text, name.row + 1, scope, { is: "member", of: owner, name: methodKey(name.text) });
  }
}

/** What a class below gives a type parameter; its bound may be another type. */
export function givenTo(parameter: SyntaxNode, { scope }: Place): Expression {
  const bound = lookUpType(scope, parameter.text);
  return bound?.is === "alias" && bound.of.is === "first" ? bound.of.of : UNKNOWN;
}

/** Whether a type is a type parameter of a class or method around. */
export function isTypeParameter(type: SyntaxNode | undefined, { file, scope }: Place): boolean {
  return type?.type === "type_identifier" && isBoundWithin(file.top, scope, type.text);
}

/** Binds the type parameters of a method, or of the class `owner`. */
export function typeParameters(node: SyntaxNode, place: Place, owner?: string): void {
  const { file, scope } = place;
  for (const [at, each] of (node.field("type_parameters")?.namedChildren ?? []).entries()) {
    const own = each.namedChildren.find(({ type }) => type === "type_identifier");
    const [bound, ...others] = each.childOfType("type_bound")?.namedChildren ?? [];
    const isKnown = bound && others.length === 0;
    const of = isKnown ? typeOf(bound, place) : UNKNOWN;
    if (own && owner !== undefined) file.bind(scope, own.text, { is: "alias", of: givenOr(owner, at, of) });
    else if (own) file.bind(scope, own.text, isKnown ? { is: "alias", of } : { is: "variable" });
  }
}
