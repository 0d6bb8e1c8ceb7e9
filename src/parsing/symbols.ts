import type { LoadedGrammar } from "./engine.ts";
import { cleanComment, foldSignature, limitDoc } from "./prose.ts";
import type { Found, GrammarRules, Rule, Scope } from "./rules/rule.ts";
import type { SourceText } from "./source-text.ts";
import type { SyntaxNode, SyntaxTree } from "./syntax-node.ts";
import type { DraftSymbol } from "./types.ts";

const FUNCTION_KINDS: ReadonlySet<string> = new Set(["function", "method", "constructor", "test"]);
const CONTAINER_KINDS: ReadonlySet<string> = new Set([
  "class",
  "struct",
  "interface",
  "enum",
  "union",
  "trait",
  "object",
  "type",
  "module",
  "namespace",
]);
/** More symbols than this a file is data in disguise; the rest is left to its chunks. */
const MAX_SYMBOLS = 20_000;

/** A grammar's rules laid out by type id. */
export interface CompiledRules {
  rules: GrammarRules;
  typeIds: number[];
  byTypeId: (Rule | "comment" | "attribute" | undefined)[];
}

export function compileRules(rules: GrammarRules, grammar: LoadedGrammar): CompiledRules {
  const byTypeId: CompiledRules["byTypeId"] = [];
  const typeIds: number[] = [];
  for (const [id, type] of grammar.types.entries()) {
    if (type === undefined || !grammar.language.nodeTypeIsNamed(id)) continue;
    const entry = rules.comments.includes(type)
      ? "comment"
      : rules.attributes?.includes(type)
        ? "attribute"
        : Object.hasOwn(rules.symbols, type)
          ? rules.symbols[type]
          : undefined;
    if (entry === undefined) continue;
    byTypeId[id] = entry;
    typeIds.push(id);
  }
  return { rules, typeIds, byTypeId };
}

export interface Comment {
  start: number;
  end: number;
}

export interface Extracted {
  symbols: DraftSymbol[];
  comments: Comment[];
}

interface Pending {
  symbol: DraftSymbol;
  container: string | undefined;
}

/** Reads symbols off a tree in document order, outer before inner. */
export function extractSymbols(tree: SyntaxTree, source: SourceText, compiled: CompiledRules): Extracted {
  const { rules, byTypeId } = compiled;
  const root = tree.root;
  const trivia: { node: SyntaxNode; attribute: boolean }[] = [];
  const pending: Pending[] = [];
  const stack: Scope[] = [
    { kind: "root", name: "", path: "", end: Number.POSITIVE_INFINITY, local: false, symbol: null },
  ];
  for (const node of tree.descendants(root, compiled.typeIds)) {
    const rule = byTypeId[node.typeId];
    if (rule === undefined) continue;
    if (rule === "comment" || rule === "attribute") {
      trivia.push({ node, attribute: rule === "attribute" });
      continue;
    }
    while (stack.at(-1)!.end <= node.start) stack.pop();
    const scope = stack.at(-1)!;
    const result = rule(node, scope);
    if (result === undefined) continue;
    for (const found of Array.isArray(result) ? result : [result]) {
      if (pending.length >= MAX_SYMBOLS) break;
      enter(found, node, scope, stack, pending, { rules, source, trivia });
    }
  }
  const symbols = pending.map((entry) => entry.symbol);
  resolveContainers(pending);
  const comments = trivia.filter((entry) => !entry.attribute).map(({ node }) => ({ start: node.start, end: node.end }));
  return { symbols, comments };
}

interface Surroundings {
  rules: GrammarRules;
  source: SourceText;
  trivia: readonly { node: SyntaxNode; attribute: boolean }[];
}

function enter(
  found: Found,
  node: SyntaxNode,
  scope: Scope,
  stack: Scope[],
  pending: Pending[],
  around: Surroundings,
): void {
  const { rules, source } = around;
  const name = found.name.trim();
  const prefix = found.container ?? "";
  const path = join(
    scope.path,
    join(prefix, name, found.separator ?? rules.separator),
    prefix === "" ? (found.separator ?? rules.separator) : rules.separator,
  );
  let symbol = scope.symbol;
  const outer = found.outer ?? node;
  if (found.kind !== undefined) {
    if (name === "") return;
    const lead = leading(outer.start, around);
    const headEnd = found.headEnd ?? node.field("body")?.start ?? firstLineEnd(source, node);
    const headStart = found.headStart ?? outer.start;
    const end = trimEnd(source.text, outer.start, outer.end);
    symbol = pending.length;
    pending.push({
      container: found.container,
      symbol: {
        kind: found.kind,
        name,
        qualifiedName: path,
        signature: foldSignature(source.text.slice(headStart, Math.min(Math.max(headEnd, headStart), end))),
        doc: found.doc === undefined ? lead.doc : limitDoc(found.doc),
        parent: scope.symbol,
        start: lead.start,
        end,
        startRow: source.rowAt(lead.start),
        endRow: source.rowAt(Math.max(end - 1, lead.start)),
        leadRow: source.rowAt(lead.docStart),
      },
    });
  }
  if (found.leaf) return;
  stack.push({
    kind: found.kind ?? "scope",
    name,
    path: name === "" ? scope.path : path,
    end: found.scopeEnd ?? node.end,
    local: found.local ?? (scope.local || (found.kind !== undefined && FUNCTION_KINDS.has(found.kind))),
    symbol,
  });
}

function join(left: string, right: string, separator: string): string {
  return left === "" ? right : `${left}${separator}${right}`;
}

/** Members written apart from their type (`impl`, receivers, `A::b`) get the type as parent, if the file declares it. */
function resolveContainers(pending: readonly Pending[]): void {
  const types = new Map<string, number>();
  for (const [index, { symbol }] of pending.entries()) {
    if (CONTAINER_KINDS.has(symbol.kind) && !types.has(symbol.qualifiedName)) types.set(symbol.qualifiedName, index);
  }
  for (const { symbol } of pending) {
    if (symbol.qualifiedName.length === symbol.name.length) continue;
    const owner = symbol.qualifiedName.slice(0, -symbol.name.length).replace(/(?:::|[.#:\\/])$/, "");
    const index = types.get(owner);
    if (index !== undefined && symbol.parent !== index && pending[index]!.symbol !== symbol) {
      const parent = symbol.parent === null ? undefined : pending[symbol.parent]!.symbol;
      if (parent === undefined || parent.qualifiedName !== owner) symbol.parent = index;
    }
  }
}

/** Doc comment, attributes and decorators that stand directly before `start`. */
function leading(start: number, around: Surroundings): { start: number; docStart: number; doc: string | null } {
  const { text } = around.source;
  let from = start;
  let docStart = start;
  const docs: string[] = [];
  for (let index = lastBefore(around.trivia, start); index >= 0; index--) {
    const { node, attribute } = around.trivia[index]!;
    const between = text.slice(Math.min(node.end, docStart), docStart);
    if (node.end > docStart) continue;
    if (between.trim() !== "" || newlines(between) > (text[node.end - 1] === "\n" ? 0 : 1)) break;
    if (attribute) {
      if (docs.length === 0) from = node.start;
    } else {
      // A comment behind code on its line belongs to that code.
      const lineStart = text.lastIndexOf("\n", node.start - 1) + 1;
      if (text.slice(lineStart, node.start).trim() !== "" && !sameLine(text, node.end, start)) break;
      const comment = node.text;
      if (node.start === 0 && comment.startsWith("#!")) break;
      docs.unshift(comment);
    }
    docStart = node.start;
  }
  const doc = docs.length === 0 ? "" : cleanComment(docs);
  return { start: from, docStart, doc: doc === "" ? null : limitDoc(doc) };
}

function lastBefore(trivia: Surroundings["trivia"], offset: number): number {
  let low = 0;
  let high = trivia.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (trivia[middle]!.node.start < offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function sameLine(text: string, from: number, to: number): boolean {
  return !text.slice(from, to).includes("\n");
}

function firstLineEnd(source: SourceText, node: SyntaxNode): number {
  return source.contentEnd(Math.min(node.row, source.lineCount - 1));
}

/** Some grammars let a node run into the line breaks behind it. */
function trimEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && /\s/.test(text[at - 1]!)) at--;
  return at;
}
