/**
 * Where the search index of hosted workspaces is stored: immutable objects in R2, named by their content.
 *
 *   search/<tenant>/segments/<id>   postings and records of some contents, shared by workspaces, branches and revisions
 *   search/<tenant>/vectors/<id>    sign bits of the vectors of one segment's chunks, under one model
 *   search/<tenant>/tables/<id>     paths of one revision, and the segment of each content; the id ends with the table's digest
 *
 * `contents.segment` names a content's newest segment; `revisions.search_table`, `search_segments` and `search_vectors` name what a
 * revision reads. Writers put an object even where it exists: the sweep spares young objects, and a put makes it young.
 */
import { createHash, type Hash } from "node:crypto";
import { SEGMENT_VERSION } from "../../engines/search/segment.ts";
import { hexOf } from "../../engines/search/analyze.ts";
import { ENGINE_VERSION, TABLE_VERSION, type WrittenTable } from "../../engines/search/table.ts";
import { VECTOR_SECTION_VERSION } from "../../engines/search/vector-section.ts";

/** The part of an R2 bucket that is used. */
export interface SearchBucket {
  get(
    key: string,
    options?: { range: { offset: number; length: number } },
  ): Promise<{ size: number; arrayBuffer(): Promise<ArrayBuffer> } | null>;
  head(key: string): Promise<{ size: number } | null>;
  put(key: string, value: Uint8Array): Promise<unknown>;
  delete(keys: string | string[]): Promise<void>;
  list(options: {
    prefix: string;
    cursor?: string;
  }): Promise<{ objects: { key: string; uploaded: Date }[]; truncated: boolean; cursor?: string }>;
}

/** Reads a range of an object: fewer bytes if the object ends within it, none if it ends before it. Null if there is no object. */
export async function getRange(
  bucket: SearchBucket,
  key: string,
  range: { offset: number; length: number },
): Promise<{ size: number; bytes: Uint8Array } | null> {
  try {
    const object = await bucket.get(key, { range });
    return object && { size: object.size, bytes: new Uint8Array(await object.arrayBuffer()) };
  } catch (error) {
    // R2 fails if no byte of the range exists, which is the case for any range of an empty object.
    const object = await bucket.head(key);
    if (object && object.size > range.offset) throw error;
    return object && { size: object.size, bytes: new Uint8Array() };
  }
}

export const SEARCH_PREFIX = "search/";
/** The tenant of an object, by its key. */
export const tenantOf = (key: string): string => key.split("/", 2)[1] ?? "";
export const segmentKey = (tenantId: string, id: string): string => `${SEARCH_PREFIX}${tenantId}/segments/${id}`;
export const vectorKey = (tenantId: string, id: string): string => `${SEARCH_PREFIX}${tenantId}/vectors/${id}`;
export const tableKey = (tenantId: string, id: string): string => `${SEARCH_PREFIX}${tenantId}/tables/${id}`;

/** Begins the id of every segment that this version reads; contents whose segment has another are indexed again. */
export const SEGMENT_ID_PREFIX = `${SEGMENT_VERSION}-`;
/** Begins the id of every table whose revision this version searches as it is. */
export const TABLE_ID_PREFIX = `${SEGMENT_VERSION}.${TABLE_VERSION}.${ENGINE_VERSION}-`;
/** `revisions.search_table` of a revision whose table cannot be written from what is stored. */
export const NO_TABLE = "none";
/** Begins the id of every vector section that this version reads. */
export const VECTOR_ID_PREFIX = `v${VECTOR_SECTION_VERSION}-`;

/** Whether a revision's part of the index is complete and of this version. Revisions of a model have vector sections too. */
export function isSearchable(
  revision: { searchTable: string | null; searchVectors: readonly string[] | null },
  isModel: boolean,
): boolean {
  if (revision.searchTable?.startsWith(TABLE_ID_PREFIX) !== true) return false;
  return !isModel || revision.searchVectors?.every((id) => id.startsWith(VECTOR_ID_PREFIX)) === true;
}

const ID_DIGITS = 32;
/** The digest in the id of a table. */
const DIGEST_IN_ID = /\.([0-9a-f]{64})$/;

/** Name of an object: its version, then the first 128 bits of its SHA-256. */
export function objectId(prefix: string, bytes: Uint8Array): string {
  return idOfHash(prefix, createHash("sha256").update(bytes));
}

/** The same from the SHA-256 of an object that is read in parts. */
export function idOfHash(prefix: string, sha256: Hash): string {
  return prefix + sha256.digest("hex").slice(0, ID_DIGITS);
}

/** Name of a table: as of any object, then its digest, so that an answer that needs the digest alone does not read the table. */
export function tableId({ table, digest }: Pick<WrittenTable, "table" | "digest">): string {
  return `${objectId(TABLE_ID_PREFIX, table)}.${hexOf(digest)}`;
}

/** The digest of a table by its id; undefined for one that an earlier version has named without it. */
export function digestInId(tableId: string): Uint8Array | undefined {
  const hex = DIGEST_IN_ID.exec(tableId)?.[1];
  return hex === undefined ? undefined : Buffer.from(hex, "hex");
}

/** The name that a table would have as any other object: its version and hash, without the digest. */
export const withoutDigest = (tableId: string): string => tableId.replace(DIGEST_IN_ID, "");
