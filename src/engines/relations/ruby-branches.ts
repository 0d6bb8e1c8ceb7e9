/** Branches of Ruby: the values between which an expression chooses. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";

const lastOf = (node: SyntaxNode): SyntaxNode | undefined =>
  node.namedChildren.findLast(({ type }) => type !== "comment" && type !== "empty_statement");

const ANSWERS = /^(?:rescue|ensure)$/;

/** The nodes of which one gives the value of a node; undefined for nodes that do not choose. Without an `else` the other value is `nil`. */
export function branchesOf(node: SyntaxNode): (SyntaxNode | undefined)[] | undefined {
  switch (node.type) {
    case "conditional":
    case "if":
    case "unless":
    case "elsif":
      return [node.field("consequence"), node.field("alternative")];
    case "case":
      return node.namedChildren.flatMap((each) =>
        each.type === "when" ? [each.field("body")] : each.type === "else" ? [each] : [],
      );
    case "case_match":
      return [...node.fields("clauses").map((each) => each.field("body")), node.field("else")];
    case "rescue_modifier":
      return [node.field("body"), node.field("handler")];
    case "binary": {
      const operator = node.field("operator")?.type ?? "";
      if (/^(?:&&|and)$/.test(operator)) return [node.field("right")];
      return /^(?:\|\||or)$/.test(operator) ? [node.field("left"), node.field("right")] : undefined;
    }
    case "then":
    case "else":
    case "parenthesized_statements":
    case "block_body":
      return [lastOf(node)];
    case "begin":
    case "body_statement": {
      const statements = node.namedChildren.filter(({ type }) => type !== "comment");
      const main = statements.findLast(({ type }) => !ANSWERS.test(type));
      return [main, ...statements.filter(({ type }) => type === "rescue").map((each) => each.field("body"))];
    }
    default:
      return undefined;
  }
}

/** Whether a statement gives no value, but leaves what it is in. */
export const leaves = (node: SyntaxNode): boolean =>
  /^(?:return|break|next|retry|redo)$/.test(node.type) ||
  (node.type === "call" && !node.field("receiver") && /^(?:raise|fail)$/.test(node.field("method")?.text ?? "")) ||
  (node.type === "identifier" && node.text === "raise");
