/** Removes secrets from the stored parts of symbols: names, signatures and documentation. Chunk contexts consist of these. */
import type { SourceText } from "../source-text.ts";
import type { DraftSymbol } from "../types.ts";
import type { SecretRange } from "./types.ts";

const WITHHELD = "withheld";
/** Names, signatures and docstrings come from within this distance of a symbol's start. */
const HEAD_CHARACTERS = 8192;
/** Length of a part of a secret that must not be kept; folding and cutting may have removed the rest. */
const PART_CHARACTERS = 12;
const MIN_PART_CHARACTERS = 6;

/**
 * Changes the symbols in place. A name that holds a secret, or is part of one, becomes `withheld`, also in the qualified
 * names of the symbols inside; a signature is replaced by the name, and documentation is removed.
 */
export function withholdSecrets(
  symbols: readonly DraftSymbol[],
  source: SourceText,
  secrets: readonly SecretRange[],
): void {
  if (secrets.length === 0) return;
  const exposed = new Set<number>();
  for (const [index, symbol] of symbols.entries()) {
    const parts = partsWithin(source, secrets, source.lineStarts[symbol.leadRow]!, symbol.start + HEAD_CHARACTERS);
    if (parts.length === 0) continue;
    const holds = (text: string) =>
      parts.some((part) => text.includes(part) || (text.length >= MIN_PART_CHARACTERS && part.includes(text)));
    if (holds(symbol.name)) {
      exposed.add(index);
      symbol.name = WITHHELD;
      symbol.qualifiedName = WITHHELD;
    }
    if (exposed.has(index) || holds(symbol.signature)) symbol.signature = symbol.name;
    if (symbol.doc !== null && holds(symbol.doc)) symbol.doc = null;
  }
  if (exposed.size > 0) hideScopes(symbols, exposed);
}

/** Names within an exposed scope lose their scopes. */
function hideScopes(symbols: readonly DraftSymbol[], exposed: ReadonlySet<number>): void {
  const states = new Map<number, boolean>();
  for (const index of symbols.keys()) {
    const path: number[] = [];
    let at: number | null = index;
    while (at !== null && !states.has(at)) {
      path.push(at);
      // Guards against a cycle of parents.
      states.set(at, false);
      if (exposed.has(at)) break;
      at = symbols[at]?.parent ?? null;
    }
    const isHidden = at !== null && (exposed.has(at) || states.get(at) === true);
    for (const visited of path) states.set(visited, isHidden);
    const symbol = symbols[index]!;
    if (states.get(index) === true && !exposed.has(index)) symbol.qualifiedName = symbol.name;
  }
}

/** First and last characters of each line of the secrets between two offsets. */
function partsWithin(source: SourceText, secrets: readonly SecretRange[], from: number, to: number): string[] {
  const parts: string[] = [];
  for (let at = firstAfter(secrets, from); at < secrets.length && secrets[at]!.start < to; at++) {
    const { start, end } = secrets[at]!;
    for (const line of source.text.slice(Math.max(start, from), Math.min(end, to)).split("\n")) {
      const text = line.trim();
      if (text.length >= MIN_PART_CHARACTERS) parts.push(text.slice(0, PART_CHARACTERS), text.slice(-PART_CHARACTERS));
    }
  }
  return parts;
}

/** Index of the first secret, in order of their starts, that may reach behind an offset. Key blocks are the longest. */
function firstAfter(secrets: readonly SecretRange[], offset: number): number {
  const earliest = offset - MAX_SECRET_CHARACTERS;
  let low = 0;
  let high = secrets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (secrets[middle]!.start < earliest) low = middle + 1;
    else high = middle;
  }
  while (low < secrets.length && secrets[low]!.end <= offset) low++;
  return low;
}

const MAX_SECRET_CHARACTERS = 33_000;
