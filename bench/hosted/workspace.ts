import { sql } from "drizzle-orm";
import { openDb } from "../../src/service/db/client.ts";
import { rowsOf } from "../../src/service/db/rows.ts";
import { createWorkspace } from "../../src/service/tenancy/index.ts";
import type { RunningService } from "../../src/tooling/local/stack/service.ts";
import { indexToEnd } from "../index-to-end.ts";

/** What a revision has that a bench asks for; null where it lacks it. */
interface Indexed {
  searchTable: string | null;
  textList: string | null;
}

/**
 * The workspace of a repository of a bench. It is indexed first, unless `isIndexed` holds for its current revision.
 *
 * @throws Error if the run fails
 */
export async function indexedWorkspace(
  { service }: RunningService,
  { name, url }: { name: string; url: string },
  isIndexed: (revision: Indexed) => boolean,
): Promise<string> {
  const db = openDb(service.databaseUrl);
  const repo = `example.com/bench/${name}`;
  const [known] = await rowsOf<Indexed & { id: string }>(
    db,
    sql`select w.id, r.search_table as "searchTable", r.text_list as "textList" from workspaces w
        left join revisions r on r.workspace_id = w.id and r.seq = w.current_seq
        where w.repo = ${repo} and w.tenant_id = ${service.tenantId}`,
  );
  if (known && isIndexed(known)) return known.id;
  const workspaceId = known?.id ?? (await createWorkspace(db, { tenantId: service.tenantId, repo })).workspaceId;
  // PGlite has no autovacuum: without statistics the planner takes the large tables for empty.
  await db.execute(sql`analyze`);
  await indexWorkspace(service, workspaceId, url);
  await db.execute(sql`analyze`);
  return workspaceId;
}

/** Indexes a repository into a workspace. Throws `Error` if the run fails. */
export async function indexWorkspace(
  service: RunningService["service"],
  workspaceId: string,
  url: string,
): Promise<void> {
  const { state, error } = await indexToEnd(service, workspaceId, url);
  if (state !== "succeeded") throw new Error(`${url}: ${JSON.stringify(error)}`);
}
