/** In which of the revisions that are kept a file has changed. */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { contentsAt } from "../revisions/content-at.ts";
import type { KeptRevision } from "./repositories.ts";

/**
 * A file in a revision beside the revision before it: of the line that readers see the one that is kept before it, of another branch the one from
 * which it differs. `oldest`: none before it is kept.
 */
export type FileChange = "added" | "changed" | "removed" | "same" | "oldest" | "absent";

export interface FileRevision extends KeptRevision {
  change: FileChange;
}

/**
 * The revisions with what each did to a path. Undefined if the path is indexed in none of them: files that are only stored are not told
 * apart by revision. The caller must check that the tenant owns the workspace.
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
