import { PARSER_VERSION } from "../../parsing/version.ts";
import { findSymbols, nearPaths, outlineOf } from "../../retrieval/lookups.ts";
import { findReferences } from "../../retrieval/references.ts";
import { search } from "../../retrieval/search.ts";
import { openIndex, type SearchIndex } from "../../retrieval/search-index.ts";
import {
  type OutlineAnswer,
  type ReferenceAnswer,
  type ReferenceRequest,
  type SearchAnswer,
  SearchFormatError,
  type SearchRequest,
  type SymbolAnswer,
  type SymbolRequest,
  type TextSource,
} from "../../retrieval/types.ts";
import type { Context } from "../context.ts";
import { EXIT, toCliError } from "../exit-codes.ts";
import { FileTree } from "../index/file-tree.ts";
import type { IndexReport } from "../index/index-worktree.ts";
import { intact } from "../index/schema.ts";
import { IndexStore } from "../index/store.ts";
import { verified } from "../index/verified.ts";
import type { Project } from "../project.ts";
import { type UpdateOptions, updateWorkTree, withWriter } from "../session.ts";
import { buildSearchTable, type IndexedFile, SegmentCollector, stateName, treePrefix, VERSIONS } from "./build.ts";
import { readLines, type FileLines } from "./read-lines.ts";
import { type OpenFile, SearchFolder } from "./search-folder.ts";
import { storeTexts } from "./texts.ts";
import { describeTree, isUnchanged, readTreeState, writeTreeState } from "./tree-state.ts";

/** Attempts to open a table that another process may be replacing. */
const MAX_TRIES = 3;

export interface LocalIndexInfo {
  root: string;
  /** Normalised identity; null if there is no remote. */
  repo: string | null;
  /** Commit that is checked out; null before the first one and outside of git. Uncommitted edits are indexed as well. */
  gitSha: string | null;
  fileCount: number;
  chunkCount: number;
  indexedAtMs: number;
  /** Names all that answers depend on. */
  digest: string;
}

/** The search index of a work tree as it was when it was opened. Paths are from the root of the work tree. */
export interface LocalIndex {
  readonly info: LocalIndexInfo;
  search(request: SearchRequest): Promise<SearchAnswer>;
  symbols(request: SymbolRequest): Promise<SymbolAnswer>;
  references(request: ReferenceRequest): Promise<ReferenceAnswer>;
  /** Undefined if no such path is indexed. */
  outline(path: string): Promise<OutlineAnswer | undefined>;
  /** Lines of an indexed file, 1-based and inclusive, all of them without bounds; undefined if no such path is indexed. */
  readFile(path: string, start?: number, end?: number): Promise<FileLines | undefined>;
  /** Up to five indexed paths that may have been meant. */
  nearPaths(path: string): string[];
  close(): void;
}

/**
 * Brings the index of a work tree up to date, uncommitted edits included, and opens it for searching. The first call in a
 * repository indexes all of it, with progress; later ones what changed. A damaged search index is rebuilt. Throws what
 * `updateWorkTree` throws.
 */
export async function openLocalIndex(context: Context, project: Project): Promise<LocalIndex> {
  const folder = new SearchFolder(project.directory);
  const name = (await unchangedTable(project, folder)) ?? (await updatedTable(context, project, folder));
  for (let tries = 1; ; tries++) {
    const opened: OpenFile[] = [];
    try {
      const index = await openTable(folder, name, opened);
      return new OpenLocalIndex(context, project, folder, index, opened);
    } catch (error) {
      for (const file of opened) file.close();
      if (!(error instanceof SearchFormatError) || tries === MAX_TRIES) throw error;
      await rebuild(context, project, folder);
    }
  }
}

/** Name of the work tree's table if nothing has changed since it was written; undefined if something has, or may have. */
async function unchangedTable(project: Project, folder: SearchFolder): Promise<string | undefined> {
  const { root, head, files } = project;
  const bytes = files && folder.readState(stateName(root));
  const state = bytes && readTreeState(bytes);
  // The files of the last listing are examined while git lists them anew.
  if (!state || state.head !== (head ?? null) || !isUnchanged(new FileTree(root), state)) return undefined;
  if ((await files)?.digest !== state.listing) return undefined;
  return lastTable(project, folder) === state.table ? state.table : undefined;
}

/** Indexes what has changed and returns the name of the new table; that of the last table if the index cannot be written. */
async function updatedTable(context: Context, project: Project, folder: SearchFolder): Promise<string> {
  const { root, head, files } = project;
  const update = async (store: IndexStore): Promise<string> => {
    const startedAtMs = Date.now();
    await updateForSearch(context, project, store, { embed: false });
    const row = workTreeRow(store, root);
    const table = tableName(row);
    const known = new Map(
      store
        .prepare("select path, stat from worktree_files where worktree_id = ?")
        .all(row.id)
        .map(({ path, stat }) => [String(path), String(stat)]),
    );
    const listed = await files;
    const run = { table, head, listing: listed?.digest ?? "", startedAtMs };
    const state = listed && describeTree(new FileTree(root), run, listed.paths(), known);
    if (state) folder.writeState(stateName(root), writeTreeState(state));
    return table;
  };
  return withWriter(context, project, "search", update).catch((error: unknown) => {
    const last = toCliError(error).exit === EXIT.io ? lastTable(project, folder) : undefined;
    if (last === undefined) throw error;
    context.ui.warn(`the index is as it was, it cannot be updated: ${toCliError(error).message}`);
    return last;
  });
}

/** The table of the work tree's last state; undefined if there is none. */
function lastTable({ directory, root }: Project, folder: SearchFolder): string | undefined {
  try {
    const store = IndexStore.openForReading(directory, PARSER_VERSION);
    if (!store) return undefined;
    try {
      const name = tableName(workTreeRow(store, root));
      return folder.tableNames().includes(name) ? name : undefined;
    } finally {
      store.close();
    }
  } catch {
    return undefined;
  }
}

/** Brings the index of a work tree up to date with all that searching it needs. Needs the write lock. */
export async function updateForSearch(
  context: Context,
  project: Project,
  store: IndexStore,
  options: Omit<UpdateOptions, "onAnalysis">,
): Promise<IndexReport> {
  const folder = new SearchFolder(project.directory);
  const collector = new SegmentCollector(folder);
  const report = await updateWorkTree(context, project, store, {
    ...options,
    onAnalysis: (analysis) => collector.add(analysis),
  });
  collector.finish();
  await ensureTable(store, folder, project.root);
  return report;
}

interface WorkTreeRow {
  id: number;
  indexed_at: number;
}

function workTreeRow(store: IndexStore, root: string): WorkTreeRow {
  return store.prepare("select id, indexed_at from worktrees where root = ?").get(root) as unknown as WorkTreeRow;
}

/** Name of the table of a work tree's state. The time identifies the state, since there is one writer at a time. */
function tableName({ id, indexed_at }: WorkTreeRow): string {
  return `${treePrefix(id)}${indexed_at}-p${PARSER_VERSION}-${VERSIONS}`;
}

/** Makes the table of the work tree where there is none. Needs the write lock. */
async function ensureTable(store: IndexStore, folder: SearchFolder, root: string): Promise<string> {
  const row = workTreeRow(store, root);
  const name = tableName(row);
  if (!folder.tableNames().includes(name)) await buildSearchTable(store, folder, name, indexedFiles(store, row.id));
  return name;
}

function indexedFiles(store: IndexStore, worktreeId: number): IndexedFile[] {
  const rows = store
    .prepare(
      `select f.path, c.id, lower(hex(c.sha256)) as sha256, c.language, c.base is not null as isInBase,
         ${intact("contents", "c")} as intact
       from worktree_files f join contents c on c.id = f.content_id where f.worktree_id = ? and c.skip is null`,
    )
    .all(worktreeId)
    .map((row) => verified<{ path: string; id: number; sha256: string; language: string; isInBase: number }>(row));
  return rows.map(({ path, id, sha256, language, isInBase }) => ({
    path,
    content: { id, sha256, language, isInBase: isInBase === 1 },
  }));
}

async function openTable(folder: SearchFolder, name: string, opened: OpenFile[]): Promise<SearchIndex> {
  const keep = (file: OpenFile | undefined, what: string): OpenFile => {
    if (!file) throw new SearchFormatError(`${what} is gone`);
    opened.push(file);
    return file;
  };
  return openIndex([
    {
      table: keep(folder.openTable(name), "the table"),
      segment: (id) => keep(folder.openSegment(id), `segment ${id}`),
    },
  ]);
}

/** Deletes the search index and rebuilds it from the local index. */
async function rebuild(context: Context, project: Project, folder: SearchFolder): Promise<string> {
  context.ui.note("the search index was damaged and is rebuilt");
  return withWriter(context, project, "search", async (store) => {
    folder.clear();
    return ensureTable(store, folder, project.root);
  });
}

class OpenLocalIndex implements LocalIndex {
  readonly #context: Context;
  readonly #project: Project;
  readonly #folder: SearchFolder;
  readonly #store: IndexStore;
  readonly #tree: FileTree;
  #index: SearchIndex;
  #opened: OpenFile[];
  readonly #indexedAtMs: number;

  constructor(context: Context, project: Project, folder: SearchFolder, index: SearchIndex, opened: OpenFile[]) {
    const store = IndexStore.openForReading(project.directory, PARSER_VERSION);
    if (!store) throw new SearchFormatError("the local index is gone");
    this.#context = context;
    this.#project = project;
    this.#folder = folder;
    this.#store = store;
    this.#tree = new FileTree(project.root);
    this.#index = index;
    this.#opened = opened;
    this.#indexedAtMs = workTreeRow(store, project.root).indexed_at;
  }

  get info(): LocalIndexInfo {
    const { root, repo, head } = this.#project;
    const { fileCount, documentCount, digest } = this.#index;
    const gitSha = head ?? null;
    return {
      root,
      repo: repo ?? null,
      gitSha,
      fileCount,
      chunkCount: documentCount,
      indexedAtMs: this.#indexedAtMs,
      digest,
    };
  }

  async search(request: SearchRequest): Promise<SearchAnswer> {
    return this.#healing((index, texts) => search(index, request, texts));
  }

  async symbols(request: SymbolRequest): Promise<SymbolAnswer> {
    return this.#healing((index, texts) => findSymbols(index, request, texts));
  }

  async references(request: ReferenceRequest): Promise<ReferenceAnswer> {
    return this.#healing((index, texts) => findReferences(index, request, texts));
  }

  async outline(path: string): Promise<OutlineAnswer | undefined> {
    return this.#healing((index, texts) => outlineOf(index, 0, path, texts));
  }

  async readFile(path: string, start?: number, end?: number): Promise<FileLines | undefined> {
    return this.#healing((index) => readLines(index, this.#tree, path, start, end));
  }

  nearPaths(path: string): string[] {
    return nearPaths(this.#index, 0, path);
  }

  close(): void {
    for (const file of this.#opened) file.close();
    this.#opened = [];
    this.#store.close();
  }

  /** Runs a look-up. If it finds damage, the search index is rebuilt and the look-up runs again. */
  async #healing<T>(work: (index: SearchIndex, texts: TextSource) => Promise<T>): Promise<T> {
    const texts = storeTexts(this.#store, this.#tree);
    try {
      return await work(this.#index, texts);
    } catch (error) {
      if (!(error instanceof SearchFormatError)) throw error;
      const name = await rebuild(this.#context, this.#project, this.#folder);
      for (const file of this.#opened) file.close();
      this.#opened = [];
      this.#index = await openTable(this.#folder, name, this.#opened);
      return work(this.#index, texts);
    }
  }
}
