/**
 * Where the search index of hosted workspaces lies: immutable objects in R2, named by their content.
 *
 *   search/<tenant>/segments/<id>   postings and records of some contents, shared by workspaces, branches and revisions
 *   search/<tenant>/tables/<id>     paths of one revision, and in which segment each content lies
 *
 * `contents.segment` says where a content's newest segment is; `revisions.search_table` and `search_segments` what a revision
 * reads. Writers always put, even where the object exists: the sweep spares young objects, and a put makes it young.
 */
import { createHash } from "node:crypto";
import { SEGMENT_VERSION } from "../retrieval/segment.ts";
import { ENGINE_VERSION, TABLE_VERSION } from "../retrieval/table.ts";

/** The part of an R2 bucket that is used. */
export interface SearchBucket {
  get(
    key: string,
    options?: { range: { offset: number; length: number } },
  ): Promise<{ size: number; arrayBuffer(): Promise<ArrayBuffer> } | null>;
  put(key: string, value: Uint8Array): Promise<unknown>;
  delete(keys: string | string[]): Promise<void>;
  list(options: {
    prefix: string;
    cursor?: string;
  }): Promise<{ objects: { key: string; uploaded: Date }[]; truncated: boolean; cursor?: string }>;
}

export const SEARCH_PREFIX = "search/";
export const segmentKey = (tenantId: string, id: string): string => `${SEARCH_PREFIX}${tenantId}/segments/${id}`;
export const tableKey = (tenantId: string, id: string): string => `${SEARCH_PREFIX}${tenantId}/tables/${id}`;

/** Begins the id of every segment that this version reads; contents whose segment has another are indexed again. */
export const SEGMENT_ID_PREFIX = `${SEGMENT_VERSION}-`;
/** Begins the id of every table whose revision this version searches as it is. */
export const TABLE_ID_PREFIX = `${SEGMENT_VERSION}.${TABLE_VERSION}.${ENGINE_VERSION}-`;

const ID_DIGITS = 32;

/** Name of an object: its version, then the first 128 bits of its SHA-256. */
export function objectId(prefix: string, bytes: Uint8Array): string {
  return prefix + createHash("sha256").update(bytes).digest("hex").slice(0, ID_DIGITS);
}
