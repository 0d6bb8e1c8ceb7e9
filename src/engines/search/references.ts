import { REFERENCES } from "../../contract/questions.ts";
import { WHOLE_BIT } from "./analyze.ts";
import { outlinesOf, symbolsOf } from "./definitions.ts";
import { lastPart } from "./names.ts";
import { isAside } from "./traits.ts";
import { innermost } from "./places.ts";
import { eachPosting, readPostings } from "./postings.ts";
import type { ContentRecord } from "./record.ts";
import { scanTerms } from "./scanner.ts";
import type { SearchIndex } from "./search-index.ts";
import type { FoundReference, ReferenceAnswer, ReferenceRequest, TextSource, WantedText } from "./types.ts";

/** Documents read together. */
const BATCH = 200;
/** Documents read at most; if there are more, the answer is marked as truncated. */
const MAX_DOCUMENTS_READ = 4_000;
const MAX_LINE_UNITS = 300;

/**
 * Lines on which an identifier is used, sources first, in order of path and line; lines on which a symbol of that name begins are
 * left out. The postings tell which chunks hold it in any spelling, their texts which lines. `texts` is called for 200 chunks at a time.
 */
export async function findReferences(
  index: SearchIndex,
  request: ReferenceRequest,
  texts: TextSource,
): Promise<ReferenceAnswer> {
  const name = lastPart(request.name.trim()).replace(/\($/, "");
  const limit = request.limit ?? REFERENCES.limit.default;
  const documents = name === "" ? [] : sourcesFirst(index, await documentsWith(index, name));
  const references: FoundReference[] = [];
  const read = Math.min(documents.length, MAX_DOCUMENTS_READ);
  for (let from = 0; from < read && references.length <= limit; from += BATCH) {
    const batch = documents.slice(from, Math.min(from + BATCH, read));
    references.push(...(await referencesIn(index, name, batch, texts)));
  }
  const truncated = references.length > limit || documents.length > read;
  return { references: references.slice(0, limit), total: references.length, truncated };
}

/** Documents that hold the identifier in some spelling. Words too common to be indexed are looked for everywhere. */
export async function documentsWith(index: SearchIndex, name: string): Promise<number[]> {
  const hash = hashOfIdentifier(name);
  if (hash === undefined) return Array.from({ length: index.documentCount }, (_, i) => i);
  const found: number[] = [];
  for (const [s, segment] of index.segments.entries()) {
    const [list] = await readPostings(segment.terms, [hash]);
    if (!list) continue;
    const documents = index.documentOfChunk[s] as Int32Array;
    eachPosting(list, (chunk, counts) => {
      if ((counts & WHOLE_BIT) === 0) return;
      for (let d = documents[chunk] ?? -1; d >= 0; d = index.nextDocument[d] as number) found.push(d);
    });
  }
  return found;
}

/** Documents in order of path and line, those of sources before those of tests, documentation, examples, generated and vendored code. */
export function sourcesFirst(index: SearchIndex, documents: readonly number[]): number[] {
  const { fileOfDocument, traits } = index;
  const ranks = new Map<number, number>();
  const rank = (document: number): number => {
    const file = fileOfDocument[document] as number;
    const known = ranks.get(file) ?? (isAside(index.path(file), traits[file] as number) ? 1 : 0);
    ranks.set(file, known);
    return known;
  };
  return documents.toSorted((a, b) => rank(a) - rank(b) || index.compareDocuments(a, b));
}

/** The term of an identifier; undefined if it is too short or too common to have one. Of `valid?` and `my-class` the first part. */
export function hashOfIdentifier(name: string): number | undefined {
  const found: number[] = [];
  scanTerms(name, { word: () => undefined, whole: (hash) => found.push(hash) });
  return found[0];
}

export async function referencesIn(
  index: SearchIndex,
  name: string,
  documents: readonly number[],
  texts: TextSource,
): Promise<FoundReference[]> {
  const byFile = new Map<number, number[]>();
  for (const document of documents) {
    const file = index.fileOfDocument[document] as number;
    const ordinal = document - (index.firstDocuments[file] as number);
    const same = byFile.get(file);
    if (same) same.push(ordinal);
    else byFile.set(file, [ordinal]);
  }
  const files = [...byFile.keys()];
  const places = files.map((file) => ({ file }));
  const [outlines, symbols] = await Promise.all([outlinesOf(index, places), symbolsOf(index, places)]);
  const wanted = files.map((file, i): WantedText => {
    const { chunks } = outlines[i] as ContentRecord;
    const { sha256, language } = index.contentKey(file);
    return {
      sha256,
      language,
      revision: index.revisionOf(file),
      path: index.path(file),
      chunks: (byFile.get(file) ?? []).map((ordinal) => {
        const { startLine = 0, endLine = 0 } = chunks[ordinal] ?? {};
        return { ordinal, startLine, endLine };
      }),
      symbols: [],
    };
  });
  const loaded = await texts(wanted);
  return wanted.flatMap((file, i) => {
    const own = symbols[i] ?? [];
    const all = own.map((_, ordinal) => ordinal);
    const definitions = new Set(own.filter((s) => lastPart(s.name) === name).map((s) => s.startLine));
    return file.chunks.flatMap(({ startLine }, k) =>
      linesWith(loaded[i]?.chunks[k] ?? "", name)
        .map(({ offset, text }) => ({ line: startLine + offset, text }))
        .filter(({ line }) => !definitions.has(line))
        .map(({ line, text }): FoundReference => {
          const around = innermost({ symbols: own }, all, line, line);
          const enclosing = around === undefined ? null : (own[around]?.qualifiedName ?? null);
          return { revision: file.revision, path: file.path, line, text, enclosing };
        }),
    );
  });
}

/** Lines that hold the name as an identifier of its own, by their distance from the first line. */
function linesWith(text: string, name: string): { offset: number; text: string }[] {
  if (!text.includes(name)) return [];
  return text.split("\n").flatMap((line, offset) => {
    for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + 1))
      if (!isPart(line[at - 1]) && !isPart(line[at + name.length])) return [{ offset, text: shownLine(line) }];
    return [];
  });
}

/** A line as answers show it. */
export function shownLine(line: string): string {
  return line.trim().slice(0, MAX_LINE_UNITS).toWellFormed();
}

function isPart(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_$]/u.test(character);
}
