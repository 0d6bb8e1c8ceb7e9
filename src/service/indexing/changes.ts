/** Computes the changed rows from a listing and the states of its blobs, and stages them for the finish. */
import { sql } from "drizzle-orm";
import { rowsOf } from "../db/rows.ts";
import type { BlobSink } from "./blob-sink.ts";
import type { StepContext } from "./context.ts";
import { contentId } from "./ids.ts";
import type { Listing } from "./listing.ts";
import { pages } from "../../lib/pages.ts";
import { filesAfter, type Revision } from "../revisions/files.ts";
import { listChanges, type ListedItem, toListed } from "./listed-files.ts";
import { changesKey, type FileChanges, type FilePut, putJson } from "./staging.ts";

/** Rows per staged object of file changes. */
const CHANGES_PER_OBJECT = 5_000;
/** Rows of the current revision that are compared per query. */
const COMPARE_PAGE = 5_000;

interface StagedChanges {
  /** Staged objects. */
  objects: number;
  /** Rows to put. */
  puts: number;
  /** Files whose content was new to the tenant. */
  freshFiles: number;
  /** Files skipped because of their content, with the reason. */
  skips: Map<string, string>;
  /** Contents of the listing that were stored before this run. */
  reused: Set<string>;
}

/**
 * Stages the rows that differ from the current revision. A listing of the whole tree is compared with the rows of that revision,
 * if there is one; a listing made against a base contains only differences. Rows are staged as they are produced, so that a
 * first run of many files never holds all of them.
 */
export async function stageChanges(
  step: StepContext,
  listing: Listing,
  sink: BlobSink,
  compareWith: Revision | undefined,
): Promise<StagedChanges> {
  const staged: StagedChanges = {
    objects: 0,
    puts: 0,
    freshFiles: 0,
    skips: new Map(),
    reused: new Set(),
  };
  const deletes = new Set(listing.deletes);
  let puts: Iterable<FilePut> = toPuts(step, listing, sink, staged, deletes);
  if (compareWith) puts = await subtractRows(step, compareWith, puts, deletes);
  for (const page of pages(
    inTurn<FilePut | ListedItem | string>(puts, deletes, toListed(listing, sink)),
    CHANGES_PER_OBJECT,
  )) {
    const changed = page.filter((row) => typeof row !== "string" && "contentId" in row);
    await putJson(step.staging, changesKey(step.run.runId, step.attempt, staged.objects++), {
      puts: changed,
      deletes: page.filter((row) => typeof row === "string"),
      list: listChanges(page.filter(isListed)),
    } satisfies FileChanges);
    staged.puts += changed.length;
  }
  return staged;
}

const isListed = (row: FilePut | ListedItem | string): row is ListedItem =>
  typeof row !== "string" && !("contentId" in row);

/** Concatenates lazily: iterating one may still add to those after it. */
function* inTurn<T>(...all: Iterable<T>[]): Generator<T> {
  for (const each of all) yield* each;
}

function* toPuts(
  step: StepContext,
  listing: Listing,
  { blobs, knownContents }: BlobSink,
  found: StagedChanges,
  deletes: Set<string>,
): Generator<FilePut> {
  for (const file of listing.files) {
    const { path, oid, mode } = file;
    const row = blobs.find(oid);
    const sha256 = blobs.textOnlyAt(row) === undefined ? blobs.sha256At(row) : undefined;
    const language = blobs.languageAt(row, file.language);
    if (sha256 === undefined || language === undefined) {
      found.skips.set(
        path,
        blobs.textOnlyAt(row) ?? blobs.skipAt(row) ?? (sha256 === undefined ? "unavailable" : "unknown_type"),
      );
      deletes.add(path);
      continue;
    }
    const id = contentId(step.run.tenantId, sha256, language);
    if (knownContents.has(id)) found.reused.add(id);
    else found.freshFiles++;
    yield { path, oid, mode, contentId: id };
  }
}

/** Drops puts that the current revision already has, and adds deletes for its rows that are not put again. */
async function subtractRows(
  step: StepContext,
  revision: Revision,
  wanted: Iterable<FilePut>,
  deletes: Set<string>,
): Promise<Iterable<FilePut>> {
  const puts = new Map<string, FilePut>();
  for (const put of wanted) puts.set(put.path, put);
  let after = "";
  for (;;) {
    const rows = await rowsOf<{ path: string; content_id: string; oid: string; mode: number }>(
      step.db,
      sql`select f.path, f.content_id, encode(f.git_oid, 'hex') as oid, f.mode from ${filesAfter(revision, after, COMPARE_PAGE)} f
          order by f.path`,
    );
    step.mark();
    for (const row of rows) {
      const put = puts.get(row.path);
      if (!put) deletes.add(row.path);
      else if (put.contentId === row.content_id && put.oid === row.oid && put.mode === row.mode) puts.delete(row.path);
    }
    const last = rows.at(-1);
    if (!last || rows.length < COMPARE_PAGE) return puts.values();
    after = last.path;
  }
}
