import type { Context } from "../context.ts";
import { inBackground } from "../background.ts";
import { CliError, EXIT, toCliError } from "../exit-codes.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { boundHeaps } from "../indexing/heap.ts";
import type { IndexedFiles, IndexReport } from "../indexing/index-worktree.ts";
import { intact } from "../indexing/schema.ts";
import type { IndexStore } from "../indexing/store.ts";
import { verified } from "../indexing/verified.ts";
import { type FileListing, hasName } from "../git/git.ts";
import { CODECTX_IGNORE } from "../indexing/ignore-rules.ts";
import type { Project } from "../project.ts";
import { listFiles } from "../indexing/list-files.ts";
import { type UpdateOptions, updateWorkTree, withWriter } from "../indexing/session.ts";
import { formatCount } from "../terminal/ui.ts";
import { buildSearchTable, changeSearchTable, type IndexedFile, SegmentCollector } from "./build.ts";
import { describeTree, saveChanges, saveState } from "./describe-tree.ts";
import type { Examination } from "./examine-tree.ts";
import { filesOfWorkTree } from "./reparse.ts";
import { SearchFolder } from "./search-folder.ts";
import { newestTable, tableName, type WorkTreeRow, workTreeRow } from "./table-names.ts";

/** A table of a work tree. */
export interface AskedTable {
  name: string;
  /** Why the table is not of the present state of the work tree; undefined if it is. */
  stale?: string;
}

/** Indexes what has changed and returns the new table; the newest one that there is, as stale, if the index cannot be written. */
export async function updatedTable(
  context: Context,
  project: Project,
  folder: SearchFolder,
  last: Examination | undefined,
): Promise<AskedTable> {
  const update = async (store: IndexStore): Promise<string> => {
    await updateForSearch(context, project, store, { embed: false, last });
    return tableName(workTreeRow(store, project.root));
  };
  if (project.plainFolder && newestTable(project, folder) === undefined) await refuseLarge(project);
  try {
    return { name: await withWriter(context, project, "search", update) };
  } catch (error) {
    const { exit, message: stale } = toCliError(error);
    const name = exit === EXIT.io ? newestTable(project, folder) : undefined;
    if (name === undefined) throw error;
    context.ui.warn(`the index is stale, it cannot be updated: ${stale}`);
    return { name, stale };
  }
}

/** A folder without git that has more files is indexed only when that is asked for: it may hold many projects, or none. */
const MAX_UNASKED_FILES = 5_000;

async function refuseLarge(project: Project): Promise<void> {
  const count = (await listFiles(project)).paths().length;
  if (count <= MAX_UNASKED_FILES) return;
  throw new CliError(
    EXIT.usage,
    "LARGE_FOLDER",
    `${project.root} is not a git work tree and has ${formatCount(count)} files: change to the folder of a project, or index all of it with \`codectx index --local\``,
  );
}

/**
 * Brings the index of a work tree up to date with all that searching it needs. What the caller has found about the files (`last`) is not
 * examined again, if it is about the state that is indexed. Needs the write lock.
 */
export async function updateForSearch(
  context: Context,
  project: Project,
  store: IndexStore,
  {
    last,
    ...options
  }: Omit<UpdateOptions, "files" | "isSame" | "only" | "onAnalysis" | "onFiles"> & { last?: Examination | undefined },
): Promise<IndexReport> {
  const startedAtMs = Date.now();
  const before = tableBefore(store, project.root);
  // Before the files are listed: the listing alone lets this thread's young generation grow to 34 MB, which V8 keeps. Not for the few
  // files of an edit, where collecting more often costs a tenth of the time; a larger change bounds the heaps with its first thread.
  if (before === undefined) boundHeaps();
  const files = inBackground(listFiles(project));
  const folder = new SearchFolder(project.directory);
  const collector = new SegmentCollector(folder);
  const known = before !== undefined && last?.table === before ? last : undefined;
  const only = known && fewThatMayDiffer(known, await files);
  let indexed: IndexedFiles = { stamps: new Map(), changed: [] };
  const report = await updateWorkTree(context, project, store, {
    ...options,
    files,
    isSame: only === undefined ? known?.isSameFile : undefined,
    only,
    onFiles: (found) => (indexed = found),
    onAnalysis: (analysis) => collector.add(analysis),
  });
  collector.finish();
  const table = await ensureTable(
    store,
    folder,
    project.root,
    before === undefined ? undefined : { earlier: before, changed: indexed.changed },
  );
  const run = { table, head: project.head, listing: await files, startedAtMs };
  // Remembered for searches that find the work tree unchanged.
  const state = describeTree(new FileTree(project.root), run, indexed.stamps, only);
  if (known && only) saveChanges(folder, project.root, state, known.name);
  else saveState(folder, project.root, state);
  return report;
}

/**
 * The files that may have changed, be new or be gone; undefined if that is not known, they are many, or the choice of all files may have
 * changed.
 */
function fewThatMayDiffer(last: Examination, listing: FileListing): ReadonlySet<string> | undefined {
  if (last.mayDiffer === undefined) return undefined;
  const paths = new Set(last.mayDiffer);
  if (listing.digest !== last.listing) for (const path of last.newOrGone(listing.paths())) paths.add(path);
  if (paths.size > MAX_CHANGED) return undefined;
  return [...paths].some((path) => hasName(path, CODECTX_IGNORE)) ? undefined : paths;
}

/** Name of the work tree's table before a run; undefined before the first run. */
function tableBefore(store: IndexStore, root: string): string | undefined {
  const row: WorkTreeRow | undefined = workTreeRow(store, root);
  return row && tableName(row);
}

/** With more changed files than this the whole tree is looked at, and its table built rather than changed. */
const MAX_CHANGED = 1_000;

/**
 * Makes the table of the work tree if there is none, from an earlier one if only a few files have changed since. Needs the write lock.
 */
async function ensureTable(
  store: IndexStore,
  folder: SearchFolder,
  root: string,
  since?: { earlier: string; changed: readonly string[] },
): Promise<string> {
  const row = workTreeRow(store, root);
  const name = tableName(row);
  if (folder.tableNames().includes(name)) return name;
  const read = filesOfWorkTree(root);
  if (since !== undefined && since.changed.length <= MAX_CHANGED) {
    const files = indexedFiles(store, row.id, since.changed);
    if (await changeSearchTable(store, folder, name, { ...since, files, read })) return name;
  }
  await buildSearchTable(store, folder, { name, files: indexedFiles(store, row.id), read });
  return name;
}

/** The indexed files of a work tree, or those of them with one of the paths. */
function indexedFiles(store: IndexStore, worktreeId: number, paths?: readonly string[]): IndexedFile[] {
  const statement = store.prepare(
    `select f.path, c.id, lower(hex(c.sha256)) as sha256, c.language, c.base is not null as isInBase,
       ${intact("contents", "c")} as intact
     from worktree_files f cross join contents c on c.id = f.content_id
     where f.worktree_id = ? ${paths === undefined ? "" : "and f.path = ?"} and c.skip is null`,
  );
  const found =
    paths === undefined ? statement.all(worktreeId) : paths.flatMap((path) => statement.all(worktreeId, path));
  return found
    .map((row) => verified<{ path: string; id: number; sha256: string; language: string; isInBase: number }>(row))
    .map(({ path, id, sha256, language, isInBase }) => ({
      path,
      content: { id, sha256, language, isInBase: isInBase === 1 },
    }));
}

/** Deletes the search index and rebuilds it from the local index. */
export async function rebuildSearchIndex(context: Context, project: Project, folder: SearchFolder): Promise<string> {
  context.ui.note("the search index was damaged and is rebuilt");
  return withWriter(context, project, "search", async (store) => {
    folder.clear();
    return ensureTable(store, folder, project.root);
  });
}
