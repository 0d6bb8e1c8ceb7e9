import type { SyntaxNode } from "../syntax-node.ts";
import type { SymbolKind } from "../types.ts";

/** What encloses a node: a symbol, an unnamed container (an `impl`, an object literal) or a function body. */
export interface Scope {
  kind: SymbolKind | "root" | "scope";
  name: string;
  /** Qualified name of everything down to here; empty at the top. */
  path: string;
  end: number;
  /** Inside a function body: variables are local here. */
  local: boolean;
  /** Index of the nearest symbol around, this scope included. */
  symbol: number | null;
  /** All that is found inside is {@link Found.outlineOnly}. */
  outlineOnly: boolean;
}

/** A symbol (or, without a kind, a scope only) that a rule has found. */
export interface Found {
  kind?: SymbolKind;
  name: string;
  /** Node of the name; by default the `name` field, else where the head first mentions the name. */
  nameNode?: SyntaxNode;
  /** Node whose range is the symbol's; the matched node if absent. */
  outer?: SyntaxNode;
  /** Type that the symbol belongs to although it is not written inside it (Go receiver, `A::b`). */
  container?: string;
  /** Joins the container's or scope's name with this one, where not the language's own separator. */
  separator?: string;
  /** Where the declaration's head begins, if not with the range (decorators come before it). */
  headStart?: number;
  /** Where the declaration's head ends. By default the `body` field's start, else the end of the node's first line. */
  headEnd?: number;
  /** Docstring found inside; comments before the symbol are used if absent. */
  doc?: string;
  /** Variables inside are local. By default so for functions and methods, and not for types. */
  local?: boolean;
  /** Where the symbol and its scope end, if not with the node. */
  end?: number;
  /** The scope reaches to the next one of its kind or the end of the file (a namespace without braces). */
  fileWide?: boolean;
  /** No scope: later nodes inside it belong to what is around. */
  leaf?: boolean;
  /**
   * Chunks are cut and described as if the symbol were not there: a member that readers look up, too small to be a
   * chunk's subject. Without a kind: all that is found inside.
   */
  outlineOnly?: boolean;
}

export type Rule = (node: SyntaxNode, scope: Scope) => Found | Found[] | undefined;

/** How symbols are read off one grammar's trees. */
export interface GrammarRules {
  separator: string;
  symbols: Record<string, Rule>;
  comments: readonly string[];
  /** Nodes that stand before a symbol as siblings and belong to it. */
  attributes?: readonly string[];
  /** The doc comment in an attribute's text, where the language writes it so. */
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

/** A function that is a method where it is written inside a type. */
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
export function isTypeScope(scope: Scope): boolean {
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
