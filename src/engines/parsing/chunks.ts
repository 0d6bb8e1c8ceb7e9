import { createHash } from "node:crypto";
import { layoutLevels, SOLID } from "./levels.ts";
import { cut } from "./prose.ts";
import type { SecretRange } from "./secrets/types.ts";
import type { SourceText } from "./source-text.ts";
import type { Chunk, DraftSymbol, Outline } from "./types.ts";

/**
 * Weights are non-whitespace characters. One vector describes about 1,500 of them well (400–500 tokens). A maximum of 3,000
 * keeps nearly every function whole and stays far below 2,048 tokens, the smallest input limit of the supported models.
 */
export const TARGET_WEIGHT = 1500;
export const MAX_WEIGHT = 3000;
/** A piece lighter than this (a closing brace, a lone import) is merged with its neighbour, up to the maximum. */
const CRUMB_WEIGHT = 200;
/** Only a single line longer than this is truncated for embedding; its chunk keeps the whole text. */
const MAX_EMBEDDED_CHARACTERS = 12_000;
/** Number of innermost scopes whose signatures are included in a chunk's context. */
const CONTEXT_SIGNATURES = 2;

interface Span {
  /** First row. */
  from: number;
  /** Row after the last. */
  to: number;
}

/**
 * The exact text that is embedded for a chunk: its context, a line break, and its text, cut to 12,000 characters (only a
 * single very long line exceeds them).
 */
export function embeddingText(chunk: { context: string; text: string }): string {
  const text = cut(chunk.text, MAX_EMBEDDED_CHARACTERS);
  return chunk.context === "" ? text : `${chunk.context}\n${text}`;
}

/** Cuts a file into chunks of whole lines that cover every non-blank line once, in order, but for rows that the outline omits. */
export function buildChunks(source: SourceText, outline: Outline, secrets: readonly SecretRange[]): Chunk[] {
  const spans: Span[] = [];
  const splitter = new Splitter(source, outline.levels);
  let from = 0;
  for (const omitted of outline.omitted ?? []) {
    splitter.split({ from, to: omitted.from }, TARGET_WEIGHT, spans);
    from = omitted.to + 1;
  }
  splitter.split({ from, to: source.lineCount }, TARGET_WEIGHT, spans);
  const chunks: Chunk[] = [];
  const scopes = new ScopeIndex(outline.symbols);
  for (const span of spans) {
    const trimmed = trimBlank(source, span);
    if (trimmed !== undefined) chunks.push(record(source, trimmed, scopes, secrets));
  }
  return chunks;
}

class Splitter {
  readonly #source: SourceText;
  readonly #levels: Uint8Array;
  #layout: Uint8Array | undefined;

  constructor(source: SourceText, levels: Uint8Array) {
    this.#source = source;
    this.#levels = levels;
  }

  /** Cuts a region at its lowest levels, recursively while pieces are too heavy, and merges light neighbours. */
  split(region: Span, limit: number, into: Span[], levels = this.#levels): void {
    if (region.to - region.from <= 1 || this.#source.weight(region.from, region.to) <= limit) {
      into.push(region);
      return;
    }
    let lowest = 255;
    for (let row = region.from + 1; row < region.to; row++) lowest = Math.min(lowest, levels[row]!);
    if (lowest >= SOLID && levels === this.#levels) {
      this.#layout ??= layoutLevels(this.#source);
      this.split(region, limit, into, this.#layout);
      return;
    }
    const pieces: Span[] = [];
    let from = region.from;
    for (let row = region.from + 1; row <= region.to; row++) {
      if (row < region.to && levels[row] !== lowest) continue;
      const piece = { from, to: row };
      if (this.#source.weight(from, row) > MAX_WEIGHT) this.split(piece, MAX_WEIGHT, pieces, levels);
      else pieces.push(piece);
      from = row;
    }
    this.#merge(pieces, into);
  }

  #merge(pieces: readonly Span[], into: Span[]): void {
    let open: Span | undefined;
    let weight = 0;
    for (const piece of pieces) {
      const more = this.#source.weight(piece.from, piece.to);
      const sum = weight + more;
      const crumb = Math.min(weight, more) < CRUMB_WEIGHT;
      if (open !== undefined && (sum <= TARGET_WEIGHT || (crumb && sum <= MAX_WEIGHT))) {
        open.to = piece.to;
        weight = sum;
        continue;
      }
      if (open !== undefined) into.push(open);
      open = { ...piece };
      weight = more;
    }
    if (open !== undefined) into.push(open);
  }
}

function trimBlank(source: SourceText, span: Span): Span | undefined {
  let { from, to } = span;
  while (from < to && source.isBlank(from)) from++;
  while (to > from && source.isBlank(to - 1)) to--;
  return from < to ? { from, to } : undefined;
}

function record(source: SourceText, span: Span, scopes: ScopeIndex, secrets: readonly SecretRange[]): Chunk {
  const last = span.to - 1;
  const start = source.lineStarts[span.from]!;
  const end = source.contentEnd(last);
  const withheld = secrets.some((secret) => secret.start < end && secret.end > start);
  const { around, symbol } = scopes.at(span.from, last);
  const text = withheld ? "" : source.text.slice(start, end);
  const context = withheld ? "" : describeScopes(around);
  return {
    text,
    context,
    hash: createHash("sha256").update(embeddingText({ context, text })).digest("hex"),
    startLine: span.from + 1,
    endLine: span.to,
    startByte: source.byteAt(start),
    endByte: source.byteAt(end),
    symbol,
    withheld,
  };
}

/** `class Foo > method bar`, then the signatures of the innermost of them. */
function describeScopes(around: readonly DraftSymbol[]): string {
  if (around.length === 0) return "";
  const crumbs = around.map(({ kind, name }) => `${kind === "enum_member" ? "constant" : kind} ${name}`).join(" > ");
  const signatures = around.slice(-CONTEXT_SIGNATURES).map((symbol) => symbol.signature);
  return [crumbs, ...signatures].join("\n");
}

/** Finds the symbols around rows. Visits each symbol a few times at most if rows are queried in ascending order. */
class ScopeIndex {
  readonly #symbols: readonly DraftSymbol[];
  readonly #order: number[];
  #next = 0;
  #open: number[] = [];

  constructor(symbols: readonly DraftSymbol[]) {
    this.#symbols = symbols;
    this.#order = symbols
      .flatMap(({ outlineOnly }, index) => (outlineOnly ? [] : [index]))
      .sort((a, b) => symbols[a]!.leadRow - symbols[b]!.leadRow || symbols[b]!.endRow - symbols[a]!.endRow || a - b);
  }

  /** `around`: symbols that began before the rows and reach into them, outermost first. */
  at(from: number, last: number): { around: DraftSymbol[]; symbol: number | null } {
    const symbols = this.#symbols;
    const order = this.#order;
    this.#open = this.#open.filter((index) => symbols[index]!.endRow >= from);
    const around = this.#open.filter((index) => symbols[index]!.startRow < from);
    let containing = around.findLast((index) => symbols[index]!.endRow >= last);
    let beginning: number | undefined;
    while (this.#next < order.length && symbols[order[this.#next]!]!.leadRow <= last) {
      const index = order[this.#next]!;
      const symbol = symbols[index]!;
      this.#next++;
      if (symbol.leadRow === from && symbol.endRow >= last) containing = index;
      beginning ??= index;
      if (symbol.endRow > last) this.#open.push(index);
    }
    return { around: around.map((index) => symbols[index]!), symbol: containing ?? beginning ?? around.at(-1) ?? null };
  }
}
