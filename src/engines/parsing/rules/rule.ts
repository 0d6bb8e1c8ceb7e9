import type { SyntaxNode } from "../syntax-node.ts";
import type { SymbolKind } from "../types.ts";

/** What encloses a node: a symbol, an unnamed container (an `impl`, an object literal) or a function body. */
export interface NameScope {
  kind: SymbolKind | "root" | "scope";
  name: string;
  /** Qualified name of this scope; empty at the top level. */
  path: string;
  end: number;
  /** Inside a function body: variables are local here. */
  local: boolean;
  /** Index of the nearest enclosing symbol, including this scope's own. */
  symbol: number | null;
  /** Everything found inside is {@link Found.outlineOnly}. */
  outlineOnly: boolean;
}

/** A symbol (or, without a kind, a scope only) that a rule has found. */
export interface Found {
  kind?: SymbolKind;
  name: string;
  /** Node of the name; by default the `name` field, else the place where the head first mentions the name. */
  nameNode?: SyntaxNode;
  /** The symbol's range, most often a node; the matched node's if absent. */
  outer?: { start: number; end: number };
  /** Type that the symbol belongs to although it is not written inside it (Go receiver, `A::b`). */
  container?: string;
  /** Separator between the container's or scope's name and this one, if it differs from the language's own. */
  separator?: string;
  /** Start of the declaration's head, if it differs from the range's (decorators come before the head). */
  headStart?: number;
  /** End of the declaration's head. By default the `body` field's start, else the end of the node's first line. */
  headEnd?: number;
  /** Docstring found inside; comments before the symbol are used if absent. */
  doc?: string;
  /** Whether variables inside are local. Default: true for functions and methods, false for types. */
  local?: boolean;
  /** End of the symbol and its scope, if it differs from the node's. */
  end?: number;
  /** The scope reaches to the next one of its kind or the end of the file (a namespace without braces). */
  fileWide?: boolean;
  /** No scope: later nodes inside it belong to the enclosing scope. */
  leaf?: boolean;
  /**
   * Chunks are cut and described without this symbol: it is a member that users look up but too small to be the subject of
   * a chunk. Without a kind, this applies to everything found inside.
   */
  outlineOnly?: boolean;
}

export type Rule = (node: SyntaxNode, scope: NameScope) => Found | Found[] | undefined;

/** Rules for reading symbols from one grammar's trees. */
export interface GrammarRules {
  separator: string;
  symbols: Record<string, Rule>;
  comments: readonly string[];
  /** Nodes that precede a symbol as siblings and belong to it. */
  attributes?: readonly string[];
  /** Extracts the doc comment from an attribute's text, for languages that write it there. */
  attributeDoc?: (text: string) => string | undefined;
}

/** A symbol that is named by a field. */
export function named(kind: SymbolKind, field = "name"): Rule {
  return (node) => {
    const name = node.field(field)?.text;
    return name === undefined || name === "" ? undefined : { kind, name };
  };
}

/** The same, only outside function bodies. */
export function topLevel(rule: Rule): Rule {
  return (node, scope) => (scope.local ? undefined : rule(node, scope));
}

/** A function, or a method if it is inside a type. */
export function callable(field = "name"): Rule {
  return (node, scope) => {
    const name = node.field(field)?.text;
    if (name === undefined || name === "") return undefined;
    return { kind: isTypeScope(scope) ? "method" : "function", name };
  };
}

/** A member without members of its own, named by a field. */
export function member(kind: "field" | "enum_member", field = "name"): Rule {
  return (node) => {
    const name = node.field(field)?.text;
    return name === undefined ? undefined : { kind, name, leaf: true, outlineOnly: true };
  };
}

/** What a type declares in its head (`record R(int a)`), besides the type itself. */
export function membersOf(
  type: string,
  nodes: readonly SyntaxNode[],
  name: (node: SyntaxNode) => string | undefined,
): Found[] {
  return nodes.flatMap((node): Found[] => {
    const label = name(node);
    if (label === undefined) return [];
    const own: Found = { kind: "field", name: label, outer: node, headEnd: node.end, leaf: true, outlineOnly: true };
    return [type === "" ? own : { ...own, container: type }];
  });
}

/** A function body without a name: what is declared inside is local. */
export const anonymousFunction: Rule = () => ({ name: "", local: true });

const TYPE_KINDS: ReadonlySet<string> = new Set([
  "class",
  "interface",
  "struct",
  "enum",
  "union",
  "trait",
  "object",
  "extension",
  "scope",
  "constant",
  "enum_member",
]);

/** Whether members written here are methods and fields. */
export function isTypeScope(scope: NameScope): boolean {
  return !scope.local && TYPE_KINDS.has(scope.kind);
}

/** A type's plain name: no generics, no qualifier. */
export function bareType(text: string): string {
  const bare = text
    .replace(/[<[({].*$/s, "")
    .trim()
    .replace(/^[&*?]+\s*(?:mut\s+|'\w+\s+)*/, "");
  return bare
    .split(/::|[.\\]/)
    .at(-1)!
    .trim();
}
