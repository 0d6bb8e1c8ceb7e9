/** What conditions of Ruby state of variables. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { narrowedBy, type Narrowed } from "./choices.ts";
import { lookUp } from "./expressions.ts";
import { constantOf, type Place } from "./ruby-expressions.ts";

/** The part of a node that runs only if a condition holds, with what that states of variables. */
export function guardedBy(node: SyntaxNode, place: Place): { guarded: SyntaxNode | undefined; types: Narrowed[] } {
  switch (node.type) {
    case "if":
    case "elsif":
      return { guarded: node.field("consequence"), types: narrowed(node.field("condition"), place) };
    case "if_modifier":
      return { guarded: node.field("body"), types: narrowed(node.field("condition"), place) };
    case "binary": {
      const isAnd = /^(?:&&|and)$/.test(node.field("operator")?.type ?? "");
      return { guarded: node.field("right"), types: isAnd ? narrowed(node.field("left"), place) : [] };
    }
    case "when": {
      const value = node.parent?.type === "case" ? node.parent.field("value") : undefined;
      const [only, ...others] = node.fields("pattern");
      const stated = value && others.length === 0 ? statedOf(value, only?.namedChild(0), place) : undefined;
      return { guarded: node.field("body"), types: stated ? [stated] : [] };
    }
    default:
      return { guarded: undefined, types: [] };
  }
}

const narrowed = (condition: SyntaxNode | undefined, place: Place): Narrowed[] =>
  narrowedBy(condition, {
    conjunction: (node) => {
      if (node.type === "parenthesized_statements") return [node.namedChild(0)];
      const isAnd = node.type === "binary" && /^(?:&&|and)$/.test(node.field("operator")?.type ?? "");
      return isAnd ? [node.field("left"), node.field("right")] : undefined;
    },
    test: (node) => {
      const value = node.type === "call" ? node.field("receiver") : undefined;
      if (!value || !/^(?:is_a|kind_of|instance_of)\?$/.test(node.field("method")?.text ?? "")) return undefined;
      return statedOf(value, node.field("arguments")?.namedChild(0), place);
    },
  });

/** That a variable is an instance of the class that a node names. */
function statedOf(value: SyntaxNode, type: SyntaxNode | undefined, place: Place): Narrowed | undefined {
  const of = type && constantOf(type, place);
  return of && value.type === "identifier" && lookUp(place.scope, value.text) ? [value.text, of] : undefined;
}
