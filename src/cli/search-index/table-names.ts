import { PARSER_VERSION } from "../../parsing/version.ts";
import { SEGMENT_VERSION } from "../../retrieval/segment.ts";
import { TABLE_VERSION } from "../../retrieval/table.ts";
import { sha256 } from "../checksum.ts";
import { IndexStore } from "../index/store.ts";
import type { Project } from "../project.ts";
import type { SearchFolder } from "./search-folder.ts";

/** Prefix of the names of a work tree's tables, and of a commit's. */
export const treePrefix = (worktreeId: number): string => `tree-${worktreeId}-`;
/** Tables of earlier versions, `commit-…`, may hold what `git replace` had put in place of the commit's objects. */
export const COMMIT_PREFIX = "commit2-";

/** Name of the file that holds a work tree's state. */
export function stateName(root: string): string {
  return `tree-${sha256(Buffer.from(root)).toString("hex").slice(0, 32)}`;
}

/** Versions at the end of a table's name: a table of another version is never opened. */
export const VERSIONS = `v${SEGMENT_VERSION}.${TABLE_VERSION}`;

export interface WorkTreeRow {
  id: number;
  indexed_at: number;
}

export function workTreeRow(store: IndexStore, root: string): WorkTreeRow {
  return store.prepare("select id, indexed_at from worktrees where root = ?").get(root) as unknown as WorkTreeRow;
}

/** Name of the table of a work tree's state. The time identifies the state, since there is one writer at a time. */
export function tableName({ id, indexed_at }: WorkTreeRow): string {
  return `${treePrefix(id)}${indexed_at}-p${PARSER_VERSION}-${VERSIONS}`;
}

/** The table of the work tree's last state; undefined if there is none. */
export function lastTable({ directory, root }: Project, folder: SearchFolder): string | undefined {
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
