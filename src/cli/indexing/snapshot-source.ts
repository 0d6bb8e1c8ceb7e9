import { comparePaths, type SnapshotFile, type SnapshotSource } from "../../engines/snapshot/types.ts";
import { rowsOfUses } from "../../engines/snapshot/uses-rows.ts";
import type { ContentKey } from "../../engines/search/types.ts";
import { pages } from "../../lib/pages.ts";
import type { CommitIndex } from "./index-commit.ts";
import { belongsTo, intact } from "./schema.ts";
import type { IndexStore } from "./store.ts";
import { IndexDamagedError, verified } from "./verified.ts";

/** Files whose uses are read together. */
const PAGE_FILES = 200;

interface SourceOptions {
  gitSha: string;
  parserVersion: number;
  /** Reads the record of each content's uses; undefined where there is none. */
  readUses: (contents: readonly ContentKey[]) => Promise<(Uint8Array | undefined)[]>;
  onFile: (done: number) => void;
}

/** The indexed commit as input of the snapshot writer. */
export function snapshotSource(
  store: IndexStore,
  index: CommitIndex,
  { gitSha, parserVersion, readUses, onFile }: SourceOptions,
): SnapshotSource {
  const { fingerprint, dimension } = index;
  const fingerprintId = store.fingerprintId(fingerprint) ?? -1;
  const sorted = index.files.toSorted((a, b) => comparePaths(a.path, b.path));
  return {
    header: { gitSha, fingerprint, dimension, parserVersion },
    async *files() {
      let done = 0;
      for (const page of pages(sorted, PAGE_FILES)) {
        const contents = page.map(({ contentId }) => readContent(store, contentId));
        const records = await readUses(contents.map(({ sha256, language }) => ({ sha256: hexOf(sha256), language })));
        for (const [i, { path, contentId }] of page.entries()) {
          const file = readFile(store, path, { id: contentId, ...(contents[i] as ContentRow) }, fingerprintId);
          const usesRecord = records[i];
          yield { ...file, uses: rowsOfUses(usesRecord), usesRecord };
          onFile(++done);
        }
      }
    },
  };
}

interface ContentRow {
  sha256: Uint8Array;
  language: string;
  sizeBytes: number;
  lineCount: number;
  outcome: string;
  symbolCount: number;
  chunkCount: number;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function readContent(store: IndexStore, contentId: number): ContentRow {
  const row = store
    .prepare(
      `select sha256, language, size_bytes as sizeBytes, line_count as lineCount, outcome, symbol_count as symbolCount,
         chunk_count as chunkCount, ${intact("contents")} as intact from contents where id = ?`,
    )
    .get(contentId);
  return verified<ContentRow>(row);
}

function readFile(
  store: IndexStore,
  path: string,
  { id: contentId, ...content }: ContentRow & { id: number },
  fingerprintId: number,
): Omit<SnapshotFile, "uses"> {
  const { symbols, chunks } = store.readParsed(contentId);
  const rows = store
    .prepare(
      `select lower(hex(c.hash)) as hash, v.vector, ${intact("chunks", "c")} and (v.id is null or ${intact("vectors", "v")}) as intact
       from chunks c left join vectors v on v.fingerprint_id = ?2 and v.chunk_hash = c.hash
       where ${belongsTo("c", "?1")} order by c.id`,
    )
    .all(contentId, fingerprintId)
    .map((row) => verified<{ hash: string; vector: Uint8Array | null }>(row));
  const isWhole =
    symbols.length === content.symbolCount &&
    chunks.length === content.chunkCount &&
    rows.length === content.chunkCount;
  if (!isWhole) throw new IndexDamagedError(`rows of ${path} are missing`);
  return {
    path,
    contentHash: hexOf(content.sha256),
    language: content.language,
    sizeBytes: content.sizeBytes,
    lineCount: content.lineCount,
    outcome: content.outcome,
    symbols,
    chunks: chunks.map((chunk, ordinal) => {
      const { hash, vector } = rows[ordinal] as { hash: string; vector: Uint8Array | null };
      return Object.assign(chunk, { hash, vector: vector ?? undefined });
    }),
  };
}
