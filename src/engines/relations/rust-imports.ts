/** Names that `use` declarations of Rust bring. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { pathParts } from "./rust-expressions.ts";

export interface ImportedName {
  /** The path, split at `::`. */
  parts: string[];
  /** The name that it is bound to; `*` for all names of the path. */
  alias: string;
}

/** Nested lists of a declaration that are followed. */
const MAX_NESTED = 20;
/** Names of a declaration that are read. */
const MAX_NAMES = 2_000;

/** The names of a `use_declaration`; those bound to `_` are left out. */
export function importedNames(declaration: SyntaxNode): ImportedName[] {
  const found: ImportedName[] = [];
  collect(declaration.field("argument"), [], found, 0);
  return found.filter(({ alias }) => alias !== "_");
}

function collect(node: SyntaxNode | undefined, before: readonly string[], found: ImportedName[], depth: number): void {
  if (!node || depth > MAX_NESTED || found.length >= MAX_NAMES) return;
  switch (node.type) {
    case "use_list":
      for (const each of node.namedChildren) collect(each, before, found, depth + 1);
      return;
    case "scoped_use_list": {
      const path = node.field("path");
      const parts = path ? pathParts(path) : [];
      if (parts) collect(node.field("list"), [...before, ...parts], found, depth + 1);
      return;
    }
    case "use_wildcard": {
      const parts = pathParts(node.namedChild(0)) ?? [];
      if (before.length + parts.length > 0) found.push({ parts: [...before, ...parts], alias: "*" });
      return;
    }
    case "use_as_clause": {
      const parts = pathParts(node.field("path"));
      const alias = node.field("alias")?.text;
      if (parts && alias !== undefined) found.push({ parts: withoutSelf([...before, ...parts]), alias });
      return;
    }
    default: {
      const own = pathParts(node);
      if (!own) return;
      const parts = withoutSelf([...before, ...own]);
      const alias = parts.at(-1);
      if (alias !== undefined) found.push({ parts, alias });
    }
  }
}

/** `a::b::{self}` is `a::b`. */
const withoutSelf = (parts: string[]): string[] =>
  parts.length > 1 && parts.at(-1) === "self" ? parts.slice(0, -1) : parts;
