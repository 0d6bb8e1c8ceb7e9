/** Finds the contents of paths in revisions, for the queries that read texts, vectors or the mere existence of a file. */
import { type SQL, sql } from "drizzle-orm";
import { unnest } from "../db/arrays.ts";
import type { Revision } from "./files.ts";

/** A path in a revision. */
export interface WantedPath extends Pick<Revision, "workspaceId" | "seq" | "baseSeq"> {
  path: string;
}

/** A further column of `w`. */
type Column<T> = readonly [name: string, type: string, valueOf: (row: T) => string | number];

/**
 * The part of a `from` clause that yields, for each row whose path exists in its revision, `w.<name>` for the given columns and
 * `f.content_id`. A revision without a `base_seq` is its own base.
 */
export function contentsAt<T extends WantedPath>(rows: readonly T[], columns: readonly Column<T>[]): SQL {
  const wanted = unnest(rows, [
    ["uuid", ({ workspaceId }) => workspaceId],
    ["int", ({ seq }) => seq],
    ["int", ({ baseSeq, seq }) => baseSeq ?? seq],
    ["text", ({ path }) => path],
    ...columns.map(([, type, valueOf]) => [type, valueOf] as const),
  ]);
  const names = sql.raw(columns.map(([name]) => name).join(", "));
  return sql`${wanted} as w(workspace, seq, base, path, ${names})
    join lateral (
      select o.content_id, 0 as rank from revision_overlays o
        where o.workspace_id = w.workspace and o.seq = w.seq and o.path = w.path collate "C"
      union all (select b.content_id, 1 from revision_files b
        where b.workspace_id = w.workspace and b.path = w.path collate "C" and b.from_seq <= w.base and (b.to_seq is null or b.to_seq > w.base)
        order by b.path, b.from_seq limit 1)
      order by rank limit 1) f on f.content_id is not null`;
}
