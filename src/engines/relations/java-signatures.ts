/** Names of types in Java, by which overloads are told apart. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { isBoundWithin, lookUp } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { ANY_TYPE, FUNCTION_TYPE } from "./overloads.ts";
import type { Place } from "./walk.ts";

/** The last name of a type: `C` of `a.b.C<T>`. */
export function lastOf(node: SyntaxNode, depth = 0): SyntaxNode {
  if (depth > MAX_EXPRESSION_DEPTH || /^(?:type_)?identifier$/.test(node.type)) return node;
  if (node.type === "annotated_type") return lastOf(node.namedChildren.at(-1) ?? node, depth + 1);
  if (node.type === "generic_type") return lastOf(node.namedChild(0) ?? node, depth + 1);
  return node.type.startsWith("scoped_") ? lastOf(node.namedChildren.at(-1) ?? node, depth + 1) : node;
}

/** Arguments of a call whose types are written down. */
const MAX_ARGUMENTS = 10;

/** A method as it is called: `name/2(String,?)`; without types where none is known. */
export function keyOfCall(name: string, list: SyntaxNode | undefined, place: Place): string {
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
