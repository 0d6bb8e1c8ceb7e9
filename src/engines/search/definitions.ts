import { endsWithParts, foldCase, nameParts, scopeByte } from "./names.ts";
import { TRAIT } from "./traits.ts";
import { type ContentRecord, kindOfNumber, type SymbolPlace } from "./record.ts";
import type { QueryIdentifier } from "./query.ts";
import type { SearchIndex } from "./search-index.ts";
import type { NameEntry, Segment } from "./segment.ts";

/** Which files define what the query names. */

const TYPE_KINDS: ReadonlySet<string> = new Set([
  "class",
  "interface",
  "struct",
  "enum",
  "union",
  "trait",
  "type",
  "module",
  "namespace",
  "object",
  "table",
  "view",
]);
const FUNCTION_KINDS: ReadonlySet<string> = new Set(["function", "method", "constructor", "macro"]);
const TYPE_SHARE = 1;
const FUNCTION_SHARE = 0.7;
const OTHER_SHARE = 0.4;
/** Kinds that name no definition of code. */
export const TEXT_KINDS: ReadonlySet<string> = new Set(["heading", "key", "rule", "element", "test", "stage"]);
/** Definitions of one name that are considered; further ones are ignored. */
const MAX_DEFINITIONS = 2_000;
/** Definitions of one name whose qualified names are compared. */
const MAX_QUALIFIED = 200;

export interface Definition {
  file: number;
  /** Ordinal of the symbol in its content. */
  symbol: number;
  /** 0 to 1. */
  score: number;
  shown: string;
}

/** The best definition in each file that defines an identifier of the query. */
export async function findDefinitions(
  index: SearchIndex,
  identifiers: readonly QueryIdentifier[],
): Promise<Map<number, Definition>> {
  const best = new Map<number, Definition>();
  const keys = [...new Set(identifiers.map(({ key }) => key))];
  const named = new Map(await Promise.all(keys.map(async (key) => [key, await definitionsOf(index, key)] as const)));
  const symbols = await symbolsByFile(
    index,
    identifiers.flatMap(({ key, parts }) => (parts.length === 1 ? [] : comparable(named.get(key), parts))),
  );
  for (const { key, parts, shown, weight, isType } of identifiers) {
    const found = (named.get(key) ?? []).filter(({ share }) => isType !== true || share === TYPE_SHARE);
    const matching = parts.length === 1 ? found : qualifiedBy(symbols, comparable(found, parts), parts);
    // `self.client.send` is not a qualified name, but `send` alone may be defined somewhere.
    const taken = matching.length > 0 ? matching : found;
    const sources = new Set(taken.filter(({ isSource }) => isSource).map(({ file }) => file)).size;
    for (const { file, symbol, share } of taken) {
      const score = (weight * share) / Math.sqrt(Math.max(1, sources));
      const known = best.get(file);
      if (!known || known.score < score) best.set(file, { file, symbol, score, shown });
    }
  }
  return best;
}

interface Named {
  file: number;
  symbol: number;
  share: number;
  isSource: boolean;
  /** As in `NameEntry`. */
  scope: number;
}

async function definitionsOf(index: SearchIndex, key: string): Promise<Named[]> {
  const found: Named[] = [];
  for (const { file, entry } of await filesNamed(index, key)) {
    const kind = kindOfNumber(entry.kind) ?? "";
    if (TEXT_KINDS.has(kind)) continue;
    const share = TYPE_KINDS.has(kind) ? TYPE_SHARE : FUNCTION_KINDS.has(kind) ? FUNCTION_SHARE : OTHER_SHARE;
    const isSource = ((index.traits[file] as number) & (TRAIT.test | TRAIT.example | TRAIT.docs)) === 0;
    found.push({ file, symbol: entry.symbol, share, isSource, scope: entry.scope });
  }
  return found;
}

/** The definitions of a name whose qualified names are compared with the parts: most of other scopes are left out. */
function comparable(named: readonly Named[] = [], parts: readonly string[]): readonly Named[] {
  const wanted = scopeByte(parts);
  return named.slice(0, MAX_QUALIFIED).filter(({ scope }) => scope === wanted);
}

async function symbolsByFile(
  index: SearchIndex,
  named: readonly Named[],
): Promise<Map<number, readonly SymbolPlace[]>> {
  const files = [...new Set(named.map(({ file }) => file))];
  const symbols = await symbolsOf(
    index,
    files.map((file) => ({ file })),
  );
  return new Map(files.map((file, i) => [file, symbols[i] ?? []]));
}

/** Those whose qualified name ends with the parts. */
function qualifiedBy(
  symbols: ReadonlyMap<number, readonly SymbolPlace[]>,
  named: readonly Named[],
  parts: readonly string[],
): Named[] {
  return named.filter(({ file, symbol }) => {
    const qualifiedName = symbols.get(file)?.[symbol]?.qualifiedName ?? "";
    return endsWithParts(nameParts(foldCase(qualifiedName)), parts);
  });
}

/** A name and a file that holds it. */
export interface NamedFile {
  file: number;
  entry: NameEntry;
}

/** Names that begin with `prefix` and pass, with the files that define them, in order of file and symbol. */
export async function namedFiles(
  index: SearchIndex,
  prefix: string,
  passes: (name: string) => boolean,
): Promise<NamedFile[]> {
  return inFiles(index, await Promise.all(index.segments.map((segment) => segment.namesFrom(prefix, passes))));
}

/** As `namedFiles`, of one whole name (as `nameKey` gives it), in the files that are wanted. */
export async function filesNamed(index: SearchIndex, name: string, isWanted?: FileFilter): Promise<NamedFile[]> {
  return inFiles(index, await Promise.all(index.segments.map((segment) => segment.namesEqual(name))), isWanted);
}

/** Chooses files by their numbers. */
export type FileFilter = (file: number) => boolean;

/** The files that define the names, which are given by segment. */
function inFiles(index: SearchIndex, lists: readonly (readonly NameEntry[])[], isWanted?: FileFilter): NamedFile[] {
  const found: NamedFile[] = [];
  for (const [s, entries] of lists.entries())
    for (const entry of entries)
      for (const file of index.filesOf(s, entry.content)) if (isWanted?.(file) !== false) found.push({ file, entry });
  return found.sort((a, b) => a.file - b.file || a.entry.symbol - b.entry.symbol).slice(0, MAX_DEFINITIONS);
}

/** Records of the files' contents without their symbols, in the order of the files. */
export function outlinesOf(index: SearchIndex, wanted: readonly { file: number }[]): Promise<ContentRecord[]> {
  return readBySegment(index, wanted, (segment, ordinals) => segment.readOutlines(ordinals));
}

/** Symbols of the files' contents, in the order of the files. */
export function symbolsOf(
  index: SearchIndex,
  wanted: readonly { file: number }[],
): Promise<(readonly SymbolPlace[])[]> {
  return readBySegment(index, wanted, (segment, ordinals) => segment.readSymbols(ordinals));
}

/** Reads the symbols of records that have none yet. */
export async function addSymbols(
  index: SearchIndex,
  files: readonly { file: number; record: ContentRecord }[],
): Promise<void> {
  const missing = files.filter(({ record }) => !record.hasSymbols);
  const symbols = await symbolsOf(index, missing);
  for (const [i, { record }] of missing.entries()) record.addSymbols(symbols[i] ?? []);
}

/** What is read of each file's content, in their order, with one call for each segment. */
async function readBySegment<T>(
  index: SearchIndex,
  wanted: readonly { file: number }[],
  read: (segment: Segment, ordinals: readonly number[]) => Promise<T[]>,
): Promise<T[]> {
  const bySegment = new Map<number, number[]>();
  for (const [i, { file }] of wanted.entries()) {
    const segment = index.segmentOf[file] as number;
    const list = bySegment.get(segment);
    if (list) list.push(i);
    else bySegment.set(segment, [i]);
  }
  const found: T[] = [];
  await Promise.all(
    [...bySegment].map(async ([segment, positions]) => {
      const ordinals = positions.map((i) => index.ordinalOf[(wanted[i] as { file: number }).file] as number);
      const parts = await read(index.segments[segment] as Segment, ordinals);
      for (const [k, i] of positions.entries()) found[i] = parts[k] as T;
    }),
  );
  return found;
}
