/** Which of the kept revisions changed a file. */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { contentsAt } from "../revisions/content-at.ts";
import type { KeptRevision } from "./repositories.ts";

/**
 * How a file differs from the previous revision: on the branch that readers see, the one kept before it; on another branch, the revision that
 * it is based on. `oldest`: no previous revision is kept.
 */
export type FileChange = "added" | "changed" | "removed" | "same" | "oldest" | "absent";

export interface FileRevision extends KeptRevision {
  change: FileChange;
}

/**
 * Adds to each revision how it changed a path. Undefined if no revision has indexed the path: the content of files that are only stored is
 * not known by revision. The caller must check that the tenant owns the workspace.
 */
export async function listFileRevisions(
  db: Db,
  workspaceId: string,
  path: string,
  revisions: readonly KeptRevision[],
): Promise<FileRevision[] | undefined> {
  const pairs = revisions.map((revision, i) => {
    const before = revision.baseSeq ?? revisions.slice(i + 1).find(({ baseSeq }) => baseSeq === null)?.seq;
    return { revision, before };
  });
  const main = pairs.flatMap(({ before }) => (before === undefined ? [] : [{ seq: before, baseSeq: null }]));
  const wanted = new Map([...main, ...revisions].map(({ seq, baseSeq }) => [seq, { workspaceId, seq, baseSeq, path }]));
  if (wanted.size === 0) return undefined;
  const rows = await rowsOf<{ revision: number; content: string }>(
    db,
    sql`select w.revision, f.content_id as content from ${contentsAt([...wanted.values()], [["revision", "int", ({ seq }) => seq]])}`,
  );
  const contents = new Map(rows.map(({ revision, content }) => [revision, content]));
  if (!revisions.some(({ seq }) => contents.has(seq))) return undefined;
  return pairs.map(({ revision, before }) => {
    const own = contents.get(revision.seq);
    const isOldest = before === undefined && own !== undefined;
    return Object.assign({}, revision, { change: isOldest ? "oldest" : changeOf(contents.get(before ?? 0), own) });
  });
}

function changeOf(before: string | undefined, after: string | undefined): FileChange {
  if (before === after) return after === undefined ? "absent" : "same";
  if (before === undefined) return "added";
  return after === undefined ? "removed" : "changed";
}
