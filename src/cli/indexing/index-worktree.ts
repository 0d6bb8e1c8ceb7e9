import { DEFAULT_MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import { contentLanguage } from "../../engines/parsing/detect.ts";
import { findSorted } from "../../engines/search/order.ts";
import type { ContentBuilder, BuilderStats } from "./content-builder.ts";
import type { EmbedStats } from "./embed-queue.ts";
import { listBases } from "./bases.ts";
import { FileTree } from "./file-tree.ts";
import { collectGarbage } from "./garbage.ts";
import { CODECTX_IGNORE, readCodectxIgnores } from "./ignore-rules.ts";
import { inParsingOrder } from "./parsing-order.ts";
import type { BuildOptions, Built } from "./run-build.ts";
import { type ChangedFile, findChanged, type ReadFile, type Scan, scanFiles, type Stamps } from "./scan.ts";
import { withoutSkipped } from "./skipped.ts";
import { rowCheck } from "./row-check.ts";
import { intact } from "./schema.ts";
import type { IndexStore } from "./store.ts";
import { IndexDamagedError, verified } from "./verified.ts";
import type { Embedding } from "./vectors.ts";
import { sha256 } from "../machine/checksum.ts";
import type { FileListing } from "../git/git.ts";

/** Counters of a whole work tree. */
interface WorkTreeTotals {
  fileCount: number;
  symbolCount: number;
  chunkCount: number;
  redactedCount: number;
  fallbackCount: number;
  partialCount: number;
  /** Skipped files by reason. */
  skipped: Record<string, number>;
}

export interface IndexReport extends WorkTreeTotals, BuilderStats {
  skippedUnchanged: number;
  removedFiles: number;
  embeddedCount: number;
  credits: number;
  embedMs: number;
  /** Embedding space in which every chunk has a vector; null if some have none. */
  fingerprint: string | null;
}

export interface Progress {
  phase: "indexing" | "embedding";
  done: number;
  total: number;
}

export interface IndexOptions extends BuildOptions {
  root: string;
  /** Commit that is checked out. */
  head: string | undefined;
  files: Promise<FileListing>;
  parserVersion: number;
  /** Time at which the scan begins. */
  nowMs: number;
  /**
   * Called if there may be something to embed; undefined indexes without vectors. If no files `changed`, a cached answer suffices.
   */
  embedding: (changed: boolean) => Promise<Embedding | undefined>;
  onIndexProgress?: (progress: Progress) => void;
  /** Whether a file is known to be as it was after the last run; others are examined. */
  isSame?: ((path: string) => boolean) | undefined;
  /**
   * The files that may have changed since the last run, or been added to the list of files or gone from it, where the ignore rules are those
   * of that run: no other is looked at. The report then counts no files that are skipped for their names.
   */
  only?: ReadonlySet<string> | undefined;
  /** Called once the rows of the files are written. */
  onFiles?: ((files: IndexedFiles) => void) | undefined;
}

/** The files of a work tree after a run. */
export interface IndexedFiles {
  /** Of all files, or of `IndexOptions.only`. */
  stamps: Stamps;
  /** Paths that have changed or are gone. */
  changed: readonly string[];
}

interface WorkTreeRow {
  id: number;
  parser_version: number;
  head: string | null;
  totals: string;
  embedded_with: string | null;
  indexed_at: number;
}

/** After edits, contents that nothing uses are looked for once a day: they are kept for weeks, and it takes a look at all files. */
const dayOf = (timeMs: number): number => Math.floor(timeMs / 86_400_000);

/** Updates the index of a work tree. An unchanged file costs one `lstat` at most. */
export async function indexWorkTree(store: IndexStore, options: IndexOptions): Promise<IndexReport> {
  const { root, parserVersion } = options;
  const found = store.prepare(`select *, ${intact("worktrees")} as intact from worktrees where root = ?`).get(root);
  const row = found && verified<WorkTreeRow>(found);
  const isCurrent = row?.parser_version === parserVersion;
  const only = isCurrent ? options.only : undefined;
  const known = isCurrent ? knownFiles(store, row.id, only) : new Map<string, string>();
  // While git lists the files, examine the known ones, which it most likely lists.
  const tree = new FileTree(root);
  const changedSince = findChanged(tree, known, options.isSame);
  const { head } = options;
  const listing = await options.files;
  // A file that is gone from the list may still be on disk.
  const listed = listing.paths();
  const paths = only ? [...only].filter((path) => findSorted(listed, path) !== -1) : listed;
  const scan = scanFiles(tree, paths, readCodectxIgnores(tree, listing.named(CODECTX_IGNORE)), known, {
    maxFileSizeBytes: DEFAULT_MAX_FILE_SIZE_BYTES,
    nowMs: options.nowMs,
    changedSince,
  });
  if (listing.unreadable > 0) scan.skipped["unreadable"] = listing.unreadable;
  const removed = removedFiles(known, scan);
  const touched = scan.changed.length > 0 || removed.length > 0 || !isCurrent;
  const embedding = await options.embedding(touched);

  const quiet = { parsedFiles: 0, reusedFiles: 0, parsedBytes: 0, embeddedCount: 0, credits: 0, embedMs: 0 };
  if (!touched && row) {
    if (embedding === undefined || row.embedded_with === embedding.space.fingerprint) {
      if (row.head !== (head ?? null)) setHead(store, row.id, head);
      options.onFiles?.({ stamps: known, changed: [] });
      const totals = withSkipped(JSON.parse(row.totals) as WorkTreeTotals, scan);
      return {
        ...totals,
        ...quiet,
        removedFiles: 0,
        skippedUnchanged: totals.fileCount,
        fingerprint: row.embedded_with,
      };
    }
  }
  if (embedding && listBases(store).some(({ fingerprint }) => fingerprint !== embedding.space.fingerprint)) {
    const { completeBases } = await import("./base.ts");
    await completeBases(store);
  }
  const { read, unknown: others } = findKnown(store, scan.changed, tree);
  const reusedFiles = read.size;
  // Files that the parser would skip must not start its workers.
  const unknown =
    reusedFiles > 0 && others.length > 0 ? withoutSkipped(store, others, read, (path) => tree.read(path)) : others;
  // Only needed if there is work to do.
  const build = async (files: readonly ChangedFile[]): Promise<Built<void>> => {
    const { runBuild } = await import("./run-build.ts");
    return runBuild(store, embedding, { ...options, expectedFiles: files.length }, (builder) =>
      readChanged(files, scan, tree, builder, read, options),
    );
  };
  let built = unknown.length > 0 ? await build(unknown) : undefined;
  const touchedPaths = [...scan.changed.map(({ path }) => path), ...removed];
  const counted =
    row !== undefined && (known.size > 0 || only !== undefined) && touchedPaths.length <= MAX_COUNTED
      ? { all: JSON.parse(row.totals) as WorkTreeTotals, touched: countTotals(store, row.id, touchedPaths) }
      : undefined;
  const worktreeId = switchFiles(store, { ...options, only }, scan, removed, read, row?.id);
  const totals =
    counted === undefined
      ? countTotals(store, worktreeId)
      : changedTotals(counted.all, counted.touched, countTotals(store, worktreeId, touchedPaths));
  options.onFiles?.({ stamps: changedStamps(known, touchedPaths, read), changed: touchedPaths });
  store.transaction(() => {
    store.prepare("update worktrees set totals = ? where id = ?").run(JSON.stringify(totals), worktreeId);
    const isDue = only === undefined || dayOf(row?.indexed_at ?? 0) !== dayOf(options.nowMs);
    if (isDue && !store.unsettled) collectGarbage(store, options.nowMs);
  });
  const report = {
    ...withSkipped(totals, scan),
    parsedFiles: built?.stats.parsedFiles ?? 0,
    parsedBytes: built?.stats.parsedBytes ?? 0,
    reusedFiles: (built?.stats.reusedFiles ?? 0) + reusedFiles,
    removedFiles: removed.length,
    skippedUnchanged: Math.max(totals.fileCount - scan.changed.length, 0),
  };
  const wanted = embedding ? contentIds(store, worktreeId) : [];
  if (wanted.length > 0) built ??= await build([]);
  const vectors = await built?.embed(wanted);
  const fingerprint =
    vectors?.fingerprint ?? embedding?.space.fingerprint ?? (touched ? null : (row?.embedded_with ?? null));
  store.prepare("update worktrees set embedded_with = ? where id = ?").run(fingerprint, worktreeId);
  const { embeddedCount, credits, embedMs }: EmbedStats = vectors?.stats ?? { ...quiet, requests: 0 };
  return { ...report, embeddedCount, credits, embedMs, fingerprint };
}

/** Changes the stamps of the indexed files to those after a run. */
function changedStamps(
  stamps: Map<string, string>,
  touched: readonly string[],
  read: ReadonlyMap<string, ReadFile>,
): Stamps {
  for (const path of touched) {
    const file = read.get(path);
    if (file) stamps.set(path, file.stat);
    else stamps.delete(path);
  }
  return stamps;
}

function removedFiles(known: Stamps, { unchanged, changed }: Scan): string[] {
  // Every unchanged file is known.
  if (unchanged.length === known.size) return [];
  const kept = new Set([...unchanged, ...changed.map(({ path }) => path)]);
  return [...known.keys()].filter((path) => !kept.has(path));
}

/** Splits changed files by whether the index has their content, under any path. An empty index is not queried. */
function findKnown(
  store: IndexStore,
  changed: readonly ChangedFile[],
  tree: FileTree,
): { read: Map<string, ReadFile>; unknown: ChangedFile[] } {
  const read = new Map<string, ReadFile>();
  if (store.prepare("select 1 from contents limit 1").get() === undefined) return { read, unknown: [...changed] };
  const unknown = changed.filter(({ path, language, stat }) => {
    const bytes = tree.read(path);
    const contentId = bytes && store.findContent(sha256(bytes), contentLanguage(language, bytes));
    if (contentId === undefined) return true;
    read.set(path, { contentId, stat });
    return false;
  });
  return { read, unknown };
}

/** Stamps of the files of the last run, all or `only` some. */
function knownFiles(store: IndexStore, worktreeId: number, only?: ReadonlySet<string>): Map<string, string> {
  const known = new Map<string, string>();
  const statement = store.db.prepare(
    `select path, content_id, stat, row_sum from worktree_files
     where worktree_id = ? ${only === undefined ? "" : "and path in (select value from json_each(?))"}`,
  );
  // An array for each row takes half the time of an object.
  statement.setReturnArrays(true);
  const given = only === undefined ? [worktreeId] : [worktreeId, JSON.stringify([...only])];
  const rows = statement.all(...given) as unknown as [string, number, string, number][];
  for (const [path, contentId, stat, sum] of rows) {
    // Computed here, because calling it from SQL for every file is measurably slower.
    if (rowCheck(worktreeId, path, contentId, stat) !== sum)
      throw new IndexDamagedError("a row does not match its checksum");
    known.set(path, stat);
  }
  return known;
}

/** Reads and parses files. A file that was deleted in the meantime counts as removed. */
async function readChanged(
  files: readonly ChangedFile[],
  scan: Scan,
  tree: FileTree,
  builder: ContentBuilder,
  read: Map<string, ReadFile>,
  options: IndexOptions,
): Promise<void> {
  let done = 0;
  for (const { path, language, stat } of inParsingOrder(files)) {
    options.stop?.throwIfAborted();
    const bytes = tree.read(path);
    if (bytes) await builder.add(bytes, language, (contentId) => read.set(path, { contentId, stat }));
    else scan.skipped["unreadable"] = (scan.skipped["unreadable"] ?? 0) + 1;
    options.onIndexProgress?.({ phase: "indexing", done: ++done, total: files.length });
  }
  await builder.finish();
}

/** Replaces the file list in one transaction. */
function switchFiles(
  store: IndexStore,
  options: IndexOptions,
  scan: Scan,
  removed: readonly string[],
  read: ReadonlyMap<string, ReadFile>,
  knownId: number | undefined,
): number {
  return store.transaction(() => {
    let worktreeId = knownId;
    if (worktreeId === undefined) {
      const { lastInsertRowid } = store
        .prepare("insert into worktrees (root, parser_version, totals, indexed_at) values (?, 0, '{}', 0)")
        .run(options.root);
      worktreeId = Number(lastInsertRowid);
    }
    store
      .prepare("update worktrees set parser_version = ?, head = ?, embedded_with = null, indexed_at = ? where id = ?")
      .run(options.parserVersion, options.head ?? null, options.nowMs, worktreeId);
    const remove = store.prepare("delete from worktree_files where worktree_id = ? and path = ?");
    for (const path of removed) remove.run(worktreeId, path);
    if (options.only === undefined && scan.unchanged.length === 0)
      store.prepare("delete from worktree_files where worktree_id = ?").run(worktreeId);
    const put = store.prepare(
      "insert or replace into worktree_files (worktree_id, path, content_id, stat) values (?, ?, ?, ?)",
    );
    for (const { path } of scan.changed) {
      const file = read.get(path);
      if (file) put.run(worktreeId, path, file.contentId, file.stat);
      else remove.run(worktreeId, path);
    }
    return worktreeId;
  });
}

function setHead(store: IndexStore, worktreeId: number, head: string | undefined): void {
  store.prepare("update worktrees set head = ? where id = ?").run(head ?? null, worktreeId);
}

/** Contents whose chunks may lack vectors. Those in a base layer have all. */
function contentIds(store: IndexStore, worktreeId: number): number[] {
  const rows = store
    .prepare(
      `select distinct c.id from worktree_files f cross join contents c on c.id = f.content_id
       where f.worktree_id = ? and c.base is null and c.chunk_count > 0`,
    )
    .all(worktreeId);
  return (rows as { id: number }[]).map(({ id }) => id);
}

/** With more changed paths than this all files are counted. */
const MAX_COUNTED = 1_000;

/** Totals of the file list, or of some paths of it. `skipped` counts only files skipped for their content. */
function countTotals(store: IndexStore, worktreeId: number, paths?: readonly string[]): WorkTreeTotals {
  // `cross join` fixes the join order, since a new index has only primary keys.
  const from = `from worktree_files f cross join contents c on c.id = f.content_id
    where f.worktree_id = ? ${paths === undefined ? "" : "and f.path in (select value from json_each(?))"}`;
  const given = paths === undefined ? [worktreeId] : [worktreeId, JSON.stringify(paths)];
  const counts = store
    .prepare(
      `select count(*) as fileCount, coalesce(sum(symbol_count), 0) as symbolCount, coalesce(sum(chunk_count), 0) as chunkCount,
         coalesce(sum(redacted_count), 0) as redactedCount, coalesce(sum(outcome like 'fallback:%'), 0) as fallbackCount,
         coalesce(sum(outcome = 'partial'), 0) as partialCount,
         coalesce(min(${intact("contents", "c")}), 1) as intact
       ${from} and skip is null`,
    )
    .get(...given);
  const skips = store
    .prepare(`select skip, count(*) as count ${from} and skip is not null group by skip`)
    .all(...given) as { skip: string; count: number }[];
  return {
    ...verified<Omit<WorkTreeTotals, "skipped">>(counts),
    skipped: Object.fromEntries(skips.map(({ skip, count }) => [skip, count])),
  };
}

/** Totals of a work tree after some of its files have changed, from theirs before and after. */
function changedTotals(totals: WorkTreeTotals, before: WorkTreeTotals, after: WorkTreeTotals): WorkTreeTotals {
  const changed = (name: Exclude<keyof WorkTreeTotals, "skipped">) => totals[name] - before[name] + after[name];
  const skipped: Record<string, number> = {};
  for (const reason of new Set([totals, after].flatMap((counted) => Object.keys(counted.skipped)))) {
    const count = (totals.skipped[reason] ?? 0) - (before.skipped[reason] ?? 0) + (after.skipped[reason] ?? 0);
    if (count > 0) skipped[reason] = count;
  }
  return {
    fileCount: changed("fileCount"),
    symbolCount: changed("symbolCount"),
    chunkCount: changed("chunkCount"),
    redactedCount: changed("redactedCount"),
    fallbackCount: changed("fallbackCount"),
    partialCount: changed("partialCount"),
    skipped,
  };
}

function withSkipped(totals: WorkTreeTotals, scan: Scan): WorkTreeTotals {
  const skipped = { ...totals.skipped };
  for (const [reason, count] of Object.entries(scan.skipped)) skipped[reason] = (skipped[reason] ?? 0) + count;
  return { ...totals, skipped };
}
