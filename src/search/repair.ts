/** Repairs the search index of a revision of which a reader has found an object damaged. */
import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { rowsOf } from "../db/rows.ts";
import { getRange, idOfHash, type SearchBucket, segmentKey, tableKey, vectorKey } from "./store.ts";
import { type IndexedRevision, recordTable, releaseContents, type SearchWriter } from "./write.ts";

/** Bytes of an object that are in memory at a time. */
const PART_BYTES = 1024 * 1024;

interface RevisionRow {
  base_seq: number | null;
  fingerprint: string;
  search_table: string | null;
  search_segments: string[] | null;
  search_vectors: string[] | null;
}

/**
 * Reads every object of the revision; if one is missing, or not what its name says, rebuilds that from the database and records the
 * revision's objects anew. Returns whether anything was damaged: of several requests to repair a revision, one does the work.
 */
export async function repairRevision(
  writer: SearchWriter,
  { tenantId, workspaceId, seq }: Omit<IndexedRevision, "baseSeq">,
): Promise<boolean> {
  const [row] = await rowsOf<RevisionRow>(
    writer.db,
    sql`select base_seq, fingerprint, search_table, search_segments, search_vectors from revisions
        where workspace_id = ${workspaceId} and seq = ${seq}`,
  );
  // Swept since, or not searchable yet: the next run of the workspace makes it so.
  if (row?.search_table == null) return false;
  const damagedOf = async (keyOf: (tenant: string, id: string) => string, ids: readonly string[]) => {
    const damaged = new Set<string>();
    for (const id of ids) {
      if (!(await isWhole(writer.bucket, keyOf(tenantId, id), id))) damaged.add(id);
      await writer.beat();
    }
    return damaged;
  };
  const tables = await damagedOf(tableKey, [row.search_table]);
  const segments = await damagedOf(segmentKey, row.search_segments ?? []);
  const vectors = await damagedOf(vectorKey, row.search_vectors ?? []);
  if (tables.size + segments.size + vectors.size === 0) return false;
  if (segments.size > 0) await releaseContents(writer.db, tenantId, [...segments]);
  // A revision of another model has no vectors to search by.
  const model = row.fingerprint === writer.model ? writer.model : null;
  await recordTable({ ...writer, model }, { tenantId, workspaceId, seq, baseSeq: row.base_seq }, vectors);
  return true;
}

/** Whether an object has the bytes that its name is the hash of. */
async function isWhole(bucket: SearchBucket, key: string, id: string): Promise<boolean> {
  const hash = createHash("sha256");
  for (let offset = 0, size = 1; offset < size; offset += PART_BYTES) {
    const object = await getRange(bucket, key, { offset, length: PART_BYTES });
    if (!object) return false;
    ({ size } = object);
    hash.update(object.bytes);
  }
  return idOfHash(id.slice(0, id.indexOf("-") + 1), hash) === id;
}
