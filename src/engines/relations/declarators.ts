/** Names under declarators of C and C++. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";

interface Declared {
  name: SyntaxNode;
  /** The declarator of the function that the name is of. */
  function: SyntaxNode | undefined;
  isArray: boolean;
}

/** The name under pointers, references, arrays and parameters. */
export function declared(node: SyntaxNode | undefined): Declared | undefined {
  let found: SyntaxNode | undefined;
  let isArray = false;
  for (let at = node, depth = 0; at && depth < MAX_EXPRESSION_DEPTH; depth++) {
    if (/identifier$|^(?:destructor_name|operator_name|operator_cast|template_function)$/.test(at.type))
      return { name: at, function: found, isArray };
    const inner: SyntaxNode | undefined =
      at.field("declarator") ??
      (/^(?:parenthesized|reference)_declarator$/.test(at.type) ? at.namedChild(0) : undefined);
    // A pointer inside of the parentheses of a function is a pointer to one.
    if (at.type === "function_declarator") found = inner?.type === "parenthesized_declarator" ? undefined : at;
    if (at.type === "array_declarator") isArray = true;
    at = inner;
  }
  return undefined;
}

/** The last part of a qualified name: the node itself where it is none. */
export function lastNameOf(node: SyntaxNode): SyntaxNode {
  let at = node;
  for (let depth = 0; at.type === "qualified_identifier" && depth < MAX_EXPRESSION_DEPTH; depth++)
    at = at.field("name") ?? at;
  return at;
}

/**
 * Whether what was read as the type of a declaration in a block is a macro on a line of its own, such as `Py_BEGIN_ALLOW_THREADS`: what
 * follows it without a semicolon is a statement.
 */
export function isAfterMacro(declaration: SyntaxNode): boolean {
  const [type, declarator] = [declaration.field("type"), declaration.field("declarator")];
  if (type?.type !== "type_identifier" || !declarator || declarator.row === type.row) return false;
  return columnOf(type) === columnOf(declarator);
}

const columnOf = ({ tree, start }: SyntaxNode): number => start - tree.text.lastIndexOf("\n", start - 1);
