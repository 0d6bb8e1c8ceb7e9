import { REFERENCES } from "../../contract/questions.ts";
import { WHOLE_BIT } from "./analyze.ts";
import { asideIn } from "./aside.ts";
import { outlinesOf, symbolsOf } from "./definitions.ts";
import { lastPart } from "./names.ts";
import { innermost } from "./places.ts";
import { eachPosting, readPostings } from "./postings.ts";
import type { ContentRecord, SymbolPlace } from "./record.ts";
import { scanTerms } from "./scanner.ts";
import type { SearchIndex } from "./search-index.ts";
import type { FoundReference, ReferenceAnswer, ReferenceRequest, TextSource } from "./types.ts";
import { pages } from "../../lib/pages.ts";
import { wantedChunks } from "./wanted-text.ts";

/** Documents read together. */
const BATCH = 200;
/** Documents read at most; if there are more, the answer is marked as truncated. */
const MAX_DOCUMENTS_READ = 4_000;
const MAX_LINE_UNITS = 300;
/** Parts of an identifier that are looked up. */
const MAX_PARTS = 8;

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
    references.push(...(await referencesIn(index, [{ name, documents: batch }], texts)).flat());
  }
  const truncated = references.length > limit || documents.length > read;
  return { references: references.slice(0, limit), total: references.length, truncated };
}

/** Documents that hold the identifier in some spelling. Words too common to be indexed are looked for everywhere. */
export async function documentsWith(index: SearchIndex, name: string): Promise<number[]> {
  const hashes = hashesOfIdentifier(name);
  if (hashes.length === 0) return Array.from({ length: index.documentCount }, (_, i) => i);
  const found: number[] = [];
  for (const [s, segment] of index.segments.entries()) {
    const lists = await readPostings(segment.terms, hashes);
    const documents = index.documentOfChunk[s] as Int32Array;
    /** By chunk: in how many lists it is, counted from the first one without a gap. */
    const times = new Uint8Array(lists.length > 1 ? documents.length : 0);
    for (const [i, list] of lists.entries()) {
      if (!list) break;
      eachPosting(list, (chunk, counts) => {
        if ((counts & WHOLE_BIT) === 0 || (i > 0 && times[chunk] !== i)) return;
        if (i < lists.length - 1) times[chunk] = i + 1;
        else for (let d = documents[chunk] ?? -1; d >= 0; d = index.nextDocument[d] as number) found.push(d);
      });
    }
  }
  return found;
}

/** Files that hold the identifier in some spelling, sources first, in order of path; all files for a word that is too common to be indexed. */
export async function filesWith(index: SearchIndex, name: string): Promise<readonly number[]> {
  if (hashesOfIdentifier(name).length === 0) return filesInOrder(index);
  const holds = new Uint8Array(index.fileCount);
  for (const document of await documentsWith(index, name)) holds[index.fileOfDocument[document] as number] = 1;
  return filesInOrder(index).filter((file) => holds[file] === 1);
}

/** Files of open indexes that have documents, in the order in which look-ups list them. */
const inOrder = new WeakMap<SearchIndex, readonly number[]>();

function filesInOrder(index: SearchIndex): readonly number[] {
  let files = inOrder.get(index);
  if (!files) {
    const isAside = asideIn(index);
    const all = [...new Set(index.fileOfDocument)];
    files = all.sort((a, b) => Number(isAside(a)) - Number(isAside(b)) || a - b);
    inOrder.set(index, files);
  }
  return files;
}

/** Documents in order of path and line, those of sources before those of tests, documentation, examples, generated and vendored code. */
export function sourcesFirst(index: SearchIndex, documents: readonly number[]): number[] {
  const isAside = asideIn(index);
  const rank = (document: number): number => Number(isAside(index.fileOfDocument[document] as number));
  return documents.toSorted((a, b) => rank(a) - rank(b) || index.compareDocuments(a, b));
}

/** The terms of an identifier: of `valid?` one, of `my-class` two. Parts that are too short or too common have none. */
function hashesOfIdentifier(name: string): number[] {
  const found = new Set<number>();
  scanTerms(name, { word: () => undefined, whole: (hash) => found.add(hash) });
  return [...found].slice(0, MAX_PARTS);
}

/** The first term of an identifier; undefined if it is too short or too common to have one. */
export function hashOfIdentifier(name: string): number | undefined {
  return hashesOfIdentifier(name)[0];
}

/**
 * For each name, the lines of some documents that hold it, in the order of the documents; lines on which a symbol of that name begins are
 * left out. Each document is read once; `texts` is called for 200 at a time.
 */
export async function referencesIn(
  index: SearchIndex,
  wanted: readonly { name: string; documents: readonly number[] }[],
  texts: TextSource,
): Promise<FoundReference[][]> {
  const names = new Map<number, number[]>();
  for (const [i, { documents }] of wanted.entries())
    for (const document of documents) {
      const known = names.get(document);
      if (known) known.push(i);
      else names.set(document, [i]);
    }
  const found = wanted.map(() => new Map<number, FoundReference[]>());
  for (const documents of pages(names.keys(), BATCH))
    for (const { document, text, startLine, file } of await readDocuments(index, documents, texts))
      for (const i of names.get(document) ?? []) {
        const lines = linesIn(file, startLine, text, wanted[i]?.name ?? "");
        if (lines.length > 0) found[i]?.set(document, lines);
      }
  return wanted.map(({ documents }, i) => documents.flatMap((document) => found[i]?.get(document) ?? []));
}

/** A file of which documents were read. */
interface ReadFile extends Pick<FoundReference, "revision" | "path"> {
  symbols: readonly SymbolPlace[];
}

async function readDocuments(index: SearchIndex, documents: readonly number[], texts: TextSource) {
  const byFile = Map.groupBy(documents, (document) => index.fileOfDocument[document] as number);
  const places = [...byFile.keys()].map((file) => ({ file }));
  const [outlines, symbols] = await Promise.all([outlinesOf(index, places), symbolsOf(index, places)]);
  const wanted = places.map(({ file }, i) => {
    const ordinals = (byFile.get(file) ?? []).map((document) => document - (index.firstDocuments[file] as number));
    return wantedChunks(index, { file, record: outlines[i] as ContentRecord }, ordinals);
  });
  const loaded = await texts(wanted);
  return wanted.flatMap(({ revision, path, chunks }, i) => {
    const file: ReadFile = { revision, path, symbols: symbols[i] ?? [] };
    return chunks.map(({ ordinal, startLine }, k) => {
      const document = (index.firstDocuments[places[i]?.file ?? 0] as number) + ordinal;
      return { document, file, startLine, text: loaded[i]?.chunks[k] ?? "" };
    });
  });
}

/** Lines of a chunk that hold a name. */
function linesIn(
  { revision, path, symbols }: ReadFile,
  startLine: number,
  text: string,
  name: string,
): FoundReference[] {
  const lines = linesWith(text, name);
  if (lines.length === 0) return [];
  const all = [...symbols.keys()];
  const definitions = new Set(symbols.filter((s) => lastPart(s.name) === name).map((s) => s.startLine));
  return lines
    .map(({ offset, text: shown }) => ({ line: startLine + offset, text: shown }))
    .filter(({ line }) => !definitions.has(line))
    .map(({ line, text: shown }): FoundReference => {
      const around = innermost({ symbols }, all, line, line);
      const enclosing = around === undefined ? null : (symbols[around]?.qualifiedName ?? null);
      return { revision, path, line, text: shown, enclosing };
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
