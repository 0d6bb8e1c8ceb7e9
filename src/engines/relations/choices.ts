/** Conditions and choices between values, which languages write in like ways. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { Expression } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";

const MAX_ALTERNATIVES = 4;

/** The values that an expression may give. `choices` are those between which a node chooses; undefined for other nodes. */
export function alternativesOf(
  node: SyntaxNode,
  choices: (node: SyntaxNode) => readonly (SyntaxNode | undefined)[] | undefined,
  depth = 0,
): SyntaxNode[] {
  const among = depth >= MAX_EXPRESSION_DEPTH ? undefined : withoutParentheses(node, choices);
  if (!among) return [node];
  const values = among.flatMap((each) => (each ? alternativesOf(each, choices, depth + 1) : []));
  return values.slice(0, MAX_ALTERNATIVES);
}

/** The type that a condition states of a name. */
export type Narrowed = [name: string, type: Expression];

/** How a language narrows types. */
export interface Narrowing {
  /** Operands of a conjunction; undefined for other nodes. */
  conjunction: (node: SyntaxNode) => readonly (SyntaxNode | undefined)[] | undefined;
  /** What a single test states, such as `isinstance(a, A)` or `a instanceof A`. */
  test: (node: SyntaxNode) => Narrowed | undefined;
}

/** The types that a condition states of names. */
export function narrowedBy(condition: SyntaxNode | undefined, narrowing: Narrowing, depth = 0): Narrowed[] {
  if (!condition || depth > MAX_EXPRESSION_DEPTH) return [];
  const parts = withoutParentheses(condition, narrowing.conjunction);
  if (parts) return parts.flatMap((part) => narrowedBy(part, narrowing, depth + 1));
  const stated = narrowing.test(condition);
  return stated ? [stated] : [];
}

function withoutParentheses(
  node: SyntaxNode,
  parts: (node: SyntaxNode) => readonly (SyntaxNode | undefined)[] | undefined,
): readonly (SyntaxNode | undefined)[] | undefined {
  return node.type === "parenthesized_expression" ? [node.namedChild(0)] : parts(node);
}
