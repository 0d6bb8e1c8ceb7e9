/** What the readers of all languages share. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { Narrowed } from "./choices.ts";
import { type Expression, guardedScope, type Scope } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { MAX_DEPTH } from "./limits.ts";
import { MAX_PARAMETERS } from "./types.ts";

/** Where a node stands. Readers add what their language needs. */
export interface Place {
  file: FileBuilder;
  scope: Scope;
  /** Levels of the tree above the node. */
  depth: number;
  /** Type of the node around, where its children were visited. */
  around?: string;
}

/** Reads a value or a type, as far as the reader of a language follows them. */
export interface Readers {
  value: (node: SyntaxNode) => Expression;
  type: (node: SyntaxNode) => Expression;
}

/** Visits the children of a node, one level deeper; the limit of levels ends the walk. */
export function visitChildren<P extends Place>(
  node: SyntaxNode,
  place: P,
  visit: (node: SyntaxNode, place: P) => void,
): void {
  if (place.depth >= MAX_DEPTH) return;
  const inner = { ...place, depth: place.depth + 1, around: node.type };
  for (const child of node.namedChildren) visit(child, inner);
}

/** As `visitChildren`, but visits the guarded child in a scope with the types that its condition states. */
export function visitGuarded<P extends Place>(
  node: SyntaxNode,
  place: P,
  guarded: SyntaxNode | undefined,
  types: readonly Narrowed[],
  visit: (node: SyntaxNode, place: P) => void,
): void {
  if (types.length === 0) {
    visitChildren(node, place, visit);
    return;
  }
  const scope = guardedScope(place.scope, types);
  visitChildren(node, place, (child, inner) => visit(child, child.id === guarded?.id ? { ...inner, scope } : inner));
}

/** A name; one that the file does not bind is of a package, by default the file's own. */
export function nameInPackage(name: string, scope: Scope, module = ""): Expression {
  return { is: "name", name, scope, otherwise: { is: "import", module, name } };
}

/** The position of an argument among the first ones of a call; undefined for one that is none of them. */
export function argumentAt(list: SyntaxNode, argument: SyntaxNode): number | undefined {
  for (let at = 0; at < MAX_PARAMETERS; at++) if (list.namedChild(at)?.id === argument.id) return at;
  return undefined;
}
