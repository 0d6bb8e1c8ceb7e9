import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import { SEGMENT_VERSION } from "../../engines/search/segment.ts";
import { TABLE_VERSION } from "../../engines/search/table.ts";
import { IndexStore } from "../indexing/store.ts";
import type { Project } from "../project.ts";
import type { SearchFolder } from "./search-folder.ts";

/** Prefix of the names of a work tree's tables, and of a commit's. */
export const treePrefix = (worktreeId: number): string => `tree-${worktreeId}-`;
/** Tables of earlier versions, `commit-…`, may hold what `git replace` had put in place of the commit's objects. */
export const COMMIT_PREFIX = "commit2-";

/** Versions at the end of a table's name: a table of another version is never opened. */
export const VERSIONS = `p${PARSER_VERSION}-v${SEGMENT_VERSION}.${TABLE_VERSION}`;

export interface WorkTreeRow {
  id: number;
  /** Milliseconds since the epoch. */
  indexed_at: number;
  /** Commit that was checked out then. */
  head: string | null;
}

export function workTreeRow(store: IndexStore, root: string): WorkTreeRow {
  return store.prepare("select id, indexed_at, head from worktrees where root = ?").get(root) as unknown as WorkTreeRow;
}

/** Name of the table of a work tree's state. The time identifies the state, since there is one writer at a time. */
export function tableName({ id, indexed_at }: Pick<WorkTreeRow, "id" | "indexed_at">): string {
  return `${treePrefix(id)}${indexed_at}-${VERSIONS}`;
}

/** When the state of a work tree was indexed for which the table was written, in milliseconds since the epoch. */
export function timeOf(table: string): number {
  return Number(table.split("-")[2]);
}

/** The newest table of the work tree, which may be of an earlier state; undefined if there is none. */
export function newestTable({ directory, root }: Project, folder: SearchFolder): string | undefined {
  try {
    const store = IndexStore.openForReading(directory, PARSER_VERSION);
    if (!store) return undefined;
    try {
      const { id } = workTreeRow(store, root);
      const names = folder.tableNames().filter((name) => name === tableName({ id, indexed_at: timeOf(name) }));
      return names.sort((a, b) => timeOf(a) - timeOf(b)).at(-1);
    } finally {
      store.close();
    }
  } catch {
    return undefined;
  }
}
