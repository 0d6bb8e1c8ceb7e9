import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import type { ChangeHistory } from "../../engines/impact/co-change.ts";
import { findSymbols, outlineOf } from "../../engines/search/lookups.ts";
import type { RevisionTexts } from "../../engines/exact/types.ts";
import { enclosingSymbols } from "../../engines/search/enclosing.ts";
import { findReferences } from "../../engines/search/references.ts";
import { search } from "../../engines/search/search.ts";
import { openIndex, type SearchIndex } from "../../engines/search/search-index.ts";
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
} from "../../engines/search/types.ts";
import { UsesIndex, type UsesFallback } from "../../engines/relations/uses-index.ts";
import type { FileLines } from "../../interface/questions/code-index.ts";
import { nearPaths } from "../../lib/near-path.ts";
import type { Context } from "../context.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { IndexStore } from "../indexing/store.ts";
import type { Project } from "../project.ts";
import { type OpenFile, SearchFolder } from "./search-folder.ts";
import { tableName, timeOf, type WorkTreeRow, workTreeRow } from "./table-names.ts";
import { storeTexts } from "./texts.ts";
import type { AskedTable } from "./update.ts";

/** What writes the index; loaded when there is something to write. */
const updates = () => import("./update.ts");
/** What reads whole texts; loaded for exact search. */
const exact = () => import("../exact/open-texts.ts");
/** What parses files for their uses; loaded for one whose uses are not stored. */
const parsing = () => import("./file-uses.ts");
/** Attempts to open a table that another process may be replacing. */
const MAX_TRIES = 3;

interface LocalIndexInfo {
  root: string;
  /** Normalised identity; null if there is no remote. */
  repo: string | null;
  /**
   * Commit that is checked out; null before the first one and outside of git. Uncommitted edits are indexed as well. Of a stale index:
   * the commit that was checked out, null if that is not known.
   */
  gitSha: string | null;
  fileCount: number;
  chunkCount: number;
  indexedAtMs: number;
  /** Uncommitted edits are indexed as well; else the index is of a commit. */
  isWorkTree: boolean;
  /** Names all that answers depend on. */
  digest: string;
  /** Why later changes of the work tree are not indexed; undefined if there are none. */
  stale: string | undefined;
  /** Files and folders of the commit that git cannot read. */
  unread?: readonly string[];
}

/** What the index says of its state. */
type IndexState = Pick<LocalIndexInfo, "gitSha" | "indexedAtMs" | "isWorkTree" | "stale" | "unread">;

/** The search index of a work tree or commit as it was when it was opened. Paths are from the root of the tree. */
export interface LocalIndex {
  readonly info: LocalIndexInfo;
  search(request: SearchRequest): Promise<SearchAnswer>;
  symbols(request: SymbolRequest): Promise<SymbolAnswer>;
  references(request: ReferenceRequest): Promise<ReferenceAnswer>;
  /** Undefined if no such path is indexed. */
  outline(path: string): Promise<OutlineAnswer | undefined>;
  /** Lines of a file that is indexed or searched, 1-based and inclusive, all of them without bounds; undefined if it is neither. */
  readFile(path: string, start?: number, end?: number): Promise<FileLines | undefined>;
  /** Gives a function the uses of the indexed files. */
  withUses<T>(work: (files: UsesIndex) => Promise<T>): Promise<T>;
  /** The files of the last commits; undefined outside of git and before the first commit. */
  history(): Promise<ChangeHistory | undefined>;
  /** Up to five indexed paths that may have been meant. */
  nearPaths(path: string): string[];
  /** Files that would be indexed if they were smaller. */
  tooLarge(): Promise<string[]>;
  /** All files and their whole texts. */
  texts(): Promise<RevisionTexts>;
  close(): void;
}

/** What is indexed: a work tree or a commit. */
export interface IndexedTree {
  /** Name of its table. */
  table: string;
  state: (store: IndexStore) => IndexState;
  /** Lines of a file that is indexed or searched; undefined if it is neither, or its file is gone. */
  lines: (index: SearchIndex, path: string, start?: number, end?: number) => Promise<FileLines | undefined>;
  /** All files and their whole texts, indexed or not; `enclosing` knows the symbols. */
  texts: (enclosing: RevisionTexts["enclosing"]) => Promise<RevisionTexts>;
  /** Files that would be indexed if they were smaller. */
  tooLarge: (index: SearchIndex) => Promise<string[]>;
  /** Makes the search index anew and returns the name of the table. */
  rebuild: () => Promise<string>;
}

/** Opens a work tree's table. With `last` it must be the one of the last state that was indexed: `SearchFormatError` is thrown else. */
export function openWorkTreeIndex(
  context: Context,
  project: Project,
  { name, stale }: AskedTable,
  options: { rebuild: boolean; last: boolean },
): Promise<LocalIndex> {
  const tree = new FileTree(project.root);
  return openLocalIndex(
    project,
    {
      table: name,
      state: (store) => {
        const row: WorkTreeRow | undefined = workTreeRow(store, project.root);
        if (row === undefined || (options.last && tableName(row) !== name))
          throw new SearchFormatError(`${name} is not the last table`);
        const indexedAtMs = stale === undefined ? row.indexed_at : timeOf(name);
        const head = stale === undefined ? project.head : row.indexed_at === indexedAtMs ? row.head : undefined;
        return { gitSha: head ?? null, indexedAtMs, isWorkTree: true, stale };
      },
      lines: async (index, path, start, end) => {
        // With what finds secrets, which takes long to load and which no search needs.
        const { readLines } = await import("./read-lines.ts");
        return readLines(index, tree, path, start, end) ?? (await exact()).searchedLines(project, path, start, end);
      },
      texts: async (enclosing) => (await exact()).openWorkTreeTexts(project, enclosing),
      tooLarge: async (index) => (await import("./too-large.ts")).tooLargeFiles(project, index.tables[0]?.paths ?? []),
      rebuild: async () => (await updates()).rebuildSearchIndex(context, project, new SearchFolder(project.directory)),
    },
    options,
  );
}

/** Opens the index of a tree. A damaged one is rebuilt if `rebuild` is set; else `SearchFormatError` is thrown. */
export async function openLocalIndex(
  project: Project,
  tree: IndexedTree,
  { rebuild }: { rebuild: boolean },
): Promise<LocalIndex> {
  const folder = new SearchFolder(project.directory);
  let { table } = tree;
  for (let tries = 1; ; tries++) {
    const opened: OpenFile[] = [];
    try {
      return new OpenLocalIndex(project, folder, tree, await openTable(folder, table, opened), opened);
    } catch (error) {
      for (const file of opened) file.close();
      if (!(error instanceof SearchFormatError) || !rebuild || tries === MAX_TRIES) throw error;
      table = await tree.rebuild();
    }
  }
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

class OpenLocalIndex implements LocalIndex {
  readonly #project: Project;
  readonly #folder: SearchFolder;
  readonly #tree: IndexedTree;
  readonly #store: IndexStore;
  readonly #files: FileTree;
  #index: SearchIndex;
  #opened: OpenFile[];
  readonly #state: IndexState;

  constructor(project: Project, folder: SearchFolder, tree: IndexedTree, index: SearchIndex, opened: OpenFile[]) {
    const store = IndexStore.openForReading(project.directory, PARSER_VERSION);
    if (!store) throw new SearchFormatError("the local index is gone");
    this.#project = project;
    this.#folder = folder;
    this.#tree = tree;
    this.#store = store;
    this.#files = new FileTree(project.root);
    this.#index = index;
    this.#opened = opened;
    try {
      this.#state = tree.state(store);
    } catch (error) {
      store.close();
      throw error;
    }
  }

  get info(): LocalIndexInfo {
    const { root, repo } = this.#project;
    const { fileCount, documentCount, digest } = this.#index;
    return { root, repo: repo ?? null, fileCount, chunkCount: documentCount, digest, ...this.#state };
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
    return this.#healing((index) => this.#tree.lines(index, path, start, end));
  }

  async withUses<T>(work: (files: UsesIndex) => Promise<T>): Promise<T> {
    // No uses are stored for a content that came with a snapshot.
    const read: UsesFallback = async (path) => {
      const file = await this.#tree.lines(this.#index, path);
      return file && (await parsing()).usesOf(file.text, file.language);
    };
    return this.#healing((index, texts) => work(new UsesIndex(index, texts, read)));
  }

  async history(): Promise<ChangeHistory | undefined> {
    const { gitSha } = this.#state;
    if (gitSha === null) return undefined;
    return (await import("../git/history.ts")).recentChanges(this.#project.root, gitSha);
  }

  nearPaths(path: string): string[] {
    return nearPaths(this.#index.tables[0]?.paths ?? [], path);
  }

  tooLarge(): Promise<string[]> {
    return this.#tree.tooLarge(this.#index);
  }

  texts(): Promise<RevisionTexts> {
    return this.#tree.texts((wanted) => this.#healing((index) => enclosingSymbols(index, wanted)));
  }

  close(): void {
    for (const file of this.#opened) file.close();
    this.#opened = [];
    this.#store.close();
  }

  /** Runs a look-up. If it finds damage, the search index is rebuilt and the look-up runs again. */
  async #healing<T>(work: (index: SearchIndex, texts: TextSource) => Promise<T>): Promise<T> {
    const texts = storeTexts(this.#store, this.#files);
    try {
      return await work(this.#index, texts);
    } catch (error) {
      if (!(error instanceof SearchFormatError)) throw error;
      const table = await this.#tree.rebuild();
      for (const file of this.#opened) file.close();
      this.#opened = [];
      this.#index = await openTable(this.#folder, table, this.#opened);
      return work(this.#index, texts);
    }
  }
}
