/** The indexer's side of whole texts: a shard packs the texts of its files, the finish of a run writes the revision's file list. */
import { lineCountOf } from "../../../engines/parsing/source-text.ts";
import { findWithheld } from "../../../engines/parsing/secrets/find-withheld.ts";
import { blankLines, countLines, type LineRange } from "../../../engines/parsing/secrets/lines.ts";
import { encodeFileList, FileList, type FileState, type ListedFile } from "../../../engines/texts/file-list.ts";
import { openObject, RangeCache } from "../read.ts";
import { objectId } from "../store.ts";
import { mergePacks } from "./merge.ts";
import { findTexts, type PackedText, writeTexts } from "./rows.ts";
import { NewPack, type TextWriter } from "./put-pack.ts";
import { LIST_ID_PREFIX, listKey } from "./store.ts";

/**
 * Stores the texts of files, except those that are stored already, in one pack. `withheld` are the lines that the parser found to
 * hold secrets, by SHA-256; files that were not parsed are searched for them here.
 */
export async function storeTexts(
  writer: TextWriter,
  tenantId: string,
  files: readonly { sha256: string; bytes: Uint8Array }[],
  withheld: ReadonlyMap<string, LineRange[]> = new Map(),
): Promise<void> {
  const stored = await findTexts(
    writer.db,
    tenantId,
    files.map(({ sha256 }) => sha256),
  );
  const pack = new NewPack();
  const rows: PackedText[] = [];
  const seen = new Set<string>();
  for (const { sha256, bytes } of files) {
    if (stored.has(sha256) || seen.has(sha256)) continue;
    seen.add(sha256);
    const ranges = withheld.get(sha256) ?? findWithheld(bytes);
    const ordinal = pack.add({
      sha256,
      bytes: blankLines(bytes, ranges),
      lineCount: lineCountOf(bytes),
      withheld: ranges,
    });
    rows.push({ sha256, ordinal, sizeBytes: bytes.byteLength, withheldLines: countLines(ranges) });
  }
  if (pack.count === 0) return;
  const id = await pack.put(writer, tenantId);
  await writeTexts(writer.db, tenantId, id, rows);
}

/** A file of the tree that a plan has looked at. */
export interface PlannedFile {
  path: string;
  state: FileState;
  reason: string | null;
  language: string | null;
  size: number | null;
  /** SHA-256 of its text; null if it has none. */
  sha256: string | null;
}

/** The difference of a revision's file list from another one. */
export interface ListChanges {
  puts: PlannedFile[];
  /** Paths that the tree no longer has. */
  gone: string[];
}

/** What a revision's row records. */
export interface WrittenList {
  list: string;
  packs: string[];
  /** Files that have a text and no index. */
  searchedOnly: number;
}

/** A text that the plan of a run relied on is not there any more. */
export class MissingTextError extends Error {
  override readonly name = "MissingTextError";
}

/** Texts that are looked up per statement. */
const LOOK_UP_PAGE = 5_000;

/**
 * Writes the file list of a revision: that of `base`, a list id, or an empty one, with the changes. Merges small packs on the way.
 * Throws `MissingTextError` if a text is not stored, `SearchFormatError` if the base cannot be read.
 */
export async function writeFileList(
  writer: TextWriter,
  tenantId: string,
  base: string | null,
  changes: AsyncIterable<ListChanges>,
): Promise<WrittenList> {
  const files = new Map<string, ListedFile>();
  if (base !== null) for (const file of await openList(writer, tenantId, base)) files.set(file.path, file);
  let freshBytes = 0;
  for await (const { puts, gone } of changes) {
    for (const path of gone) files.delete(path);
    for (let at = 0; at < puts.length; at += LOOK_UP_PAGE) {
      const page = puts.slice(at, at + LOOK_UP_PAGE);
      const hashes = new Set(page.flatMap(({ sha256 }) => (sha256 === null ? [] : [sha256])));
      const texts = await findTexts(writer.db, tenantId, [...hashes]);
      for (const { sha256, ...put } of page) {
        const row = sha256 === null ? undefined : texts.get(sha256);
        if (sha256 !== null && !row) throw new MissingTextError("a text of the revision is not stored");
        const text = row ? { pack: row.pack, ordinal: row.ordinal } : null;
        files.set(put.path, { ...put, size: row?.sizeBytes ?? put.size, withheldLines: row?.withheldLines ?? 0, text });
        freshBytes += row?.sizeBytes ?? 0;
      }
    }
    await writer.beat();
  }
  await mergePacks(writer, tenantId, [...files.values()], freshBytes);
  return putList(writer, tenantId, files.values(), LIST_ID_PREFIX);
}

/** Writes a list under an id that begins with `prefix`. */
export async function putList(
  writer: TextWriter,
  tenantId: string,
  files: Iterable<ListedFile>,
  prefix: string,
): Promise<WrittenList> {
  const packs = new Set<string>();
  let searchedOnly = 0;
  const listed = [...files];
  for (const { text, state } of listed) {
    if (text) packs.add(text.pack);
    if (state === "searched") searchedOnly++;
  }
  const bytes = encodeFileList(listed);
  const list = objectId(prefix, bytes);
  await writer.bucket.put(listKey(tenantId, list), bytes);
  await writer.beat();
  return { list, packs: [...packs].toSorted(), searchedOnly };
}

/** A list is read once. */
const NO_CACHE_BYTES = 0;

/** Reads a list. Throws `SearchFormatError` if it is missing or damaged. */
export async function openList(writer: TextWriter, tenantId: string, id: string): Promise<FileList> {
  const cache = new RangeCache(NO_CACHE_BYTES);
  return FileList.open(await openObject(writer.bucket, listKey(tenantId, id), { cache }));
}
