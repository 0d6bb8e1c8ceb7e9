/** Repairs the search index of a revision that a reader has found damaged, or written by another version of the service. */
import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { RevisionTable } from "../../engines/search/table.ts";
import { rowsOf } from "../db/rows.ts";
import { openObject } from "./read.ts";
import {
  digestInId,
  getRange,
  idOfHash,
  isSearchable,
  NO_TABLE,
  type SearchBucket,
  segmentKey,
  tableKey,
  vectorKey,
  withoutDigest,
} from "./store.ts";
import { DamagedSegmentError, type IndexedRevision, recordTable, releaseContents, type SearchWriter } from "./write.ts";

/** Bytes of an object that are in memory at a time. */
const PART_BYTES = 1024 * 1024;

interface RevisionRow {
  base_seq: number | null;
  fingerprint: string;
  search_table: string | null;
  search_segments: string[] | null;
  search_vectors: string[] | null;
}

/** `rebuilt`, `whole` (nothing to do), or `impossible`: what is stored is not enough, and the revision waits for the next run. */
type Repair = "rebuilt" | "whole" | "impossible";

/**
 * Writes the search index of a revision again, from the database, if it is of another version. Otherwise reads every object of it;
 * if one is missing, or not what its name says, rebuilds that and records the revision's objects anew. Idempotent: of several
 * requests to repair a revision, one does the work.
 */
export async function repairRevision(
  writer: SearchWriter,
  { tenantId, workspaceId, seq }: Omit<IndexedRevision, "baseSeq">,
): Promise<Repair> {
  const [row] = await rowsOf<RevisionRow>(
    writer.db,
    sql`select base_seq, fingerprint, search_table, search_segments, search_vectors from revisions
        where workspace_id = ${workspaceId} and seq = ${seq}`,
  );
  // Swept since.
  if (!row || row.search_table === NO_TABLE) return "whole";
  // A revision of another model has no vectors to search by.
  const model = row.fingerprint === writer.model ? writer.model : null;
  const revision = { tenantId, workspaceId, seq, baseSeq: row.base_seq };
  const { search_table: table, search_vectors: searchVectors } = row;
  if (table === null || !isSearchable({ searchTable: table, searchVectors }, model !== null)) {
    return rewrite({ ...writer, model }, revision);
  }
  const damagedOf = async (
    keyOf: (tenant: string, id: string) => string,
    ids: readonly string[],
    isWhole: typeof isIntact = isIntact,
  ) => {
    const damaged = new Set<string>();
    for (const id of ids) {
      if (!(await isWhole(writer.bucket, keyOf(tenantId, id), id))) damaged.add(id);
      await writer.beat();
    }
    return damaged;
  };
  const tables = await damagedOf(tableKey, [table], isTableIntact);
  const segments = await damagedOf(segmentKey, row.search_segments ?? []);
  const vectors = await damagedOf(vectorKey, searchVectors ?? []);
  if (tables.size + segments.size + vectors.size === 0) return "whole";
  if (segments.size > 0) await releaseContents(writer.db, tenantId, [...segments]);
  return rewrite({ ...writer, model }, revision, vectors);
}

async function rewrite(
  writer: SearchWriter,
  revision: IndexedRevision,
  damaged: ReadonlySet<string> = new Set(),
): Promise<Repair> {
  try {
    await recordTable(writer, revision, damaged);
    return "rebuilt";
  } catch (error) {
    if (!(error instanceof DamagedSegmentError)) throw error;
    await writer.db.execute(
      sql`update revisions set search_table = ${NO_TABLE} where workspace_id = ${revision.workspaceId} and seq = ${revision.seq}`,
    );
    return "impossible";
  }
}

/** Whether a table has the bytes whose hash is in its name, and the digest where that is in its name as well. */
async function isTableIntact(bucket: SearchBucket, key: string, id: string): Promise<boolean> {
  const named = digestInId(id);
  if (named === undefined) return isIntact(bucket, key, id);
  if (!(await isIntact(bucket, key, withoutDigest(id)))) return false;
  const { digest } = await RevisionTable.open(await openObject(bucket, key));
  return Buffer.compare(digest, named) === 0;
}

/** Whether an object has the bytes whose hash is in its name. */
export async function isIntact(bucket: SearchBucket, key: string, id: string): Promise<boolean> {
  const hash = createHash("sha256");
  for (let offset = 0, size = 1; offset < size; offset += PART_BYTES) {
    const object = await getRange(bucket, key, { offset, length: PART_BYTES });
    if (!object) return false;
    ({ size } = object);
    hash.update(object.bytes);
  }
  return id === idOfHash(id.slice(0, id.indexOf("-") + 1), hash);
}
