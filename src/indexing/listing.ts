/** From trees to file changes: what a run has to look at, what of it is known, and which rows of the revision change. */
import { sql } from "drizzle-orm";
import type { IndexOptions } from "../contract/index.ts";
import { diffTrees, MODE_GITLINK, MODE_SYMLINK, type TreeStore, walkTree } from "../git/index.ts";
import type { LanguageId } from "../parsing/index.ts";
import type { BlobSink } from "./blob-sink.ts";
import type { StepContext } from "./context.ts";
import { contentId } from "./ids.ts";
import { createSelector } from "./select.ts";
import type { FilePut } from "./staging.ts";
import { findBlobs, findContents } from "./store.ts";
import { rowsOf } from "../db/rows.ts";

/** Ids of one look-up query. */
const LOOKUP_PAGE = 5_000;

interface Tree {
  trees: TreeStore;
  root: string;
}

export interface Candidate {
  path: string;
  oid: string;
  mode: number;
  language: LanguageId;
}

export interface Listing {
  /** Files to be indexed: of the whole tree, or of what differs from the base. */
  files: Candidate[];
  /** Paths that are no longer indexed. */
  deletes: string[];
  /** Paths left out, with the reason. */
  skips: Map<string, string>;
}

/** Lists the files to index. With a base (indexed with the same options) only what differs from it is listed. */
export function listCandidates(options: IndexOptions, wanted: Tree, base: Tree | undefined): Listing {
  const listing: Listing = { files: [], deletes: [], skips: new Map() };
  const select = createSelector(options);
  const consider = (entry: { path: string; mode: number; oid: string }, existed: boolean) => {
    const reason = judge(entry);
    if (reason === true) return;
    if (reason !== null) listing.skips.set(entry.path, reason);
    if (existed) listing.deletes.push(entry.path);
  };
  const judge = ({ path, mode, oid }: { path: string; mode: number; oid: string }): true | string | null => {
    if (mode === MODE_SYMLINK) return "symlink";
    if (mode === MODE_GITLINK) return "submodule";
    const verdict = select(path);
    if (!verdict.take) return verdict.reason;
    listing.files.push({ path, oid, mode, language: verdict.language });
    return true;
  };
  if (base) {
    for (const change of diffTrees(wanted.trees, wanted.root, base.trees, base.root)) {
      if (change.status === "deleted") listing.deletes.push(change.path);
      else consider(change, change.status === "modified");
    }
  } else {
    for (const entry of walkTree(wanted.trees, wanted.root)) consider(entry, false);
  }
  return listing;
}

/** Tells the sink what is known already; returns the blobs that have to be pulled. */
export async function resolveKnown(step: StepContext, listing: Listing, sink: BlobSink): Promise<Set<string>> {
  const oids = [...new Set(listing.files.map((file) => file.oid))];
  for (const page of pages(oids)) {
    for (const blob of (await findBlobs(step.db, step.run.tenantId, page)).values()) sink.learn(blob);
  }
  const byContent = new Map<string, string>();
  for (const file of listing.files) {
    const sha256 = sink.sha256Of(file.oid);
    if (sha256) byContent.set(contentId(step.run.tenantId, sha256, file.language), file.oid);
  }
  for (const page of pages([...byContent.keys()])) {
    for (const id of await findContents(step.db, page)) sink.knownContents.add(id);
  }
  const wanted = new Set<string>();
  for (const file of listing.files) {
    if (sink.skipOf(file.oid) !== undefined) continue;
    const sha256 = sink.sha256Of(file.oid);
    if (sha256 && sink.knownContents.has(contentId(step.run.tenantId, sha256, file.language))) continue;
    sink.expect(file.oid, file.language);
    wanted.add(file.oid);
  }
  return wanted;
}

export interface RevisionChanges {
  puts: FilePut[];
  deletes: string[];
  skips: Map<string, string>;
  freshFiles: number;
  /** Contents of the listing that were stored before this run. */
  reused: string[];
}

/**
 * Turns a listing into the rows that differ from the current revision. A listing of the whole tree is compared with the
 * rows there are; one made against a base differs already.
 */
export async function toChanges(
  step: StepContext,
  listing: Listing,
  sink: BlobSink,
  compareWithRows: boolean,
): Promise<RevisionChanges> {
  const { tenantId, workspaceId } = step.run;
  const skips = new Map(listing.skips);
  const deletes = new Set(listing.deletes);
  const puts = new Map<string, FilePut>();
  const reused = new Set<string>();
  let freshFiles = 0;
  for (const { path, oid, mode, language } of listing.files) {
    const sha256 = sink.sha256Of(oid);
    if (sha256 === undefined) {
      skips.set(path, sink.skipOf(oid) ?? "unavailable");
      deletes.add(path);
      continue;
    }
    const id = contentId(tenantId, sha256, language);
    if (sink.knownContents.has(id)) reused.add(id);
    else freshFiles++;
    puts.set(path, { path, oid, mode, contentId: id });
  }
  if (compareWithRows) await subtractRows(step, workspaceId, puts, deletes);
  return { puts: [...puts.values()], deletes: [...deletes], skips, freshFiles, reused: [...reused] };
}

/** Drops puts that the current revision already has, and adds deletes for rows of it that are not put again. */
async function subtractRows(
  step: StepContext,
  workspaceId: string,
  puts: Map<string, FilePut>,
  deletes: Set<string>,
): Promise<void> {
  let after = "";
  for (;;) {
    const rows = await rowsOf<{ path: string; content_id: string; oid: string; mode: number }>(
      step.db,
      sql`select f.path, f.content_id, encode(f.git_oid, 'hex') as oid, f.mode from revision_files f join workspaces w on w.id = f.workspace_id
          where f.workspace_id = ${workspaceId} and f.path > ${after}
          and f.from_seq <= w.current_seq and (f.to_seq is null or f.to_seq > w.current_seq)
          order by f.path limit ${LOOKUP_PAGE}`,
    );
    for (const row of rows) {
      const put = puts.get(row.path);
      if (!put) deletes.add(row.path);
      else if (put.contentId === row.content_id && put.oid === row.oid && put.mode === row.mode) puts.delete(row.path);
    }
    const last = rows.at(-1);
    if (!last || rows.length < LOOKUP_PAGE) return;
    after = last.path;
  }
}

/** Cuts a list into pages for look-up queries. */
export function* pages<T>(items: readonly T[], size = LOOKUP_PAGE): Generator<T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
