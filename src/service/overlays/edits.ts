/** What a run would list of the files of an overlay: the same selection by name, options and content. */
import { createHash } from "node:crypto";
import type { IndexOptions } from "../../contract/index.ts";
import type { Candidate, Listing, OtherFile } from "../indexing/listing.ts";
import { isTextReason } from "../indexing/listing.ts";
import { createSelector } from "../indexing/select.ts";
import type { EditedFiles } from "./requests.ts";

/** Mode of a file in a git tree. */
const MODE_FILE = 0o100644;

/** The differences from the base, and the contents by their git id. */
export function listEdits(
  options: IndexOptions,
  edits: EditedFiles,
): { listing: Listing; blobs: Map<string, Uint8Array> } {
  const select = createSelector(options);
  const blobs = new Map<string, Uint8Array>();
  const files: Candidate[] = [];
  const others: OtherFile[] = [];
  const deletes: string[] = [];
  const gone: string[] = [];
  for (const { path, text } of edits) {
    const verdict = select(path);
    if (text === null) {
      gone.push(path);
      if (verdict.take) deletes.push(path);
      continue;
    }
    const bytes = new TextEncoder().encode(text);
    const oid = blobId(bytes);
    blobs.set(oid, bytes);
    if (verdict.take) files.push({ path, oid, mode: MODE_FILE, language: verdict.language });
    else others.push({ path, oid, reason: verdict.reason, isSearched: isTextReason(verdict.reason, options) });
  }
  return { listing: { files, fileCount: files.length, others, deletes, gone, leftOut: new Map() }, blobs };
}

/** Id of a blob in repositories with SHA-1 ids. */
function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.byteLength}\0`).update(bytes).digest("hex");
}
