import { chunksForKey } from "./literals.ts";
import type { FoundFile } from "./places.ts";
import type { ScoredTerm } from "./score.ts";

/** A query that is one hyphenated key, such as `maxmemory-policy`: the files come first in which the key is set, declared or read. */

const KEY = /^[A-Za-z][\w.]{0,60}(?:-[A-Za-z0-9][\w.]{0,60}){1,8}$/;

/** The key if the query is nothing else; undefined otherwise. */
export function keyOf(title: string): string | undefined {
  const text = title.trim();
  return KEY.test(text) ? text : undefined;
}

/**
 * The files in their order, those first that have the key between quotes or at the beginning of a line, each with the chunks that do so. Unchanged
 * if a path has the key: its file is what was meant. `sources` are those that may come first, with all of their chunks; `textsOf` reads
 * chunks of files.
 */
export async function keyFirst(
  files: readonly FoundFile[],
  key: string,
  terms: readonly ScoredTerm[],
  {
    sources,
    pathOf,
    textsOf,
  }: {
    sources: readonly FoundFile[];
    pathOf: (file: FoundFile) => string;
    textsOf: (files: readonly FoundFile[]) => Promise<string[][]>;
  },
): Promise<readonly FoundFile[]> {
  if (files.some((file) => pathOf(file).includes(key))) return files;
  const possible = chunksForKey(sources, key, terms);
  const texts = await textsOf(possible);
  const pattern = declarationOf(key);
  const top = Math.max(0, ...files.map(({ ranked }) => ranked.score));
  const declaring = new Map<number, FoundFile>();
  for (const [i, file] of possible.entries()) {
    const found = file.chunks.map((_, c) => {
      const match = pattern.exec(texts[i]?.[c] ?? "");
      return match?.[1] ?? match?.[2];
    });
    const chunks = file.chunks.filter((_, c) => found[c] !== undefined);
    if (chunks.length === 0) continue;
    const literals = [...new Set(found.filter((text) => text !== undefined))];
    const score = top + Math.max(0, file.ranked.score);
    declaring.set(file.ranked.file, { ranked: { ...file.ranked, score }, chunks, literals });
  }
  const first = [...declaring.values()].sort((a, b) => b.ranked.score - a.ranked.score);
  return [...first, ...files.filter(({ ranked }) => !declaring.has(ranked.file))];
}

/** The key in any case: between quotes, or at the beginning of a line, commented out or not, before a value. */
export function declarationOf(key: string): RegExp {
  const text = key.replaceAll(".", String.raw`\.`);
  return new RegExp(String.raw`["'\x60](${text})["'\x60]|^[ \t#;/*-]{0,40}(${text})(?=[ \t:=]|$)`, "im");
}
