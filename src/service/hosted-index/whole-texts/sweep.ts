/** Daily removal of texts that no revision refers to. */
import { type SQL, sql } from "drizzle-orm";
import { arrayOf } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { rowsOf } from "../../db/rows.ts";
import type { SearchBucket } from "../store.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { listKey, packKey, TEXTS_PREFIX } from "./store.ts";

/** Younger objects and rows may belong to a run that is not finished. */
const GRACE_HOURS = 24;
const GRACE_MS = GRACE_HOURS * 3_600_000;
/** Rows per delete statement, so that each takes well under a second. */
const SWEEP_PAGE = 2_000;

/** Packs that the revisions of a tenant read. */
const packsOf = (tenantId: SQL): SQL =>
  sql`select unnest(r.text_packs) from workspaces w join revisions r on r.workspace_id = w.id where w.tenant_id = ${tenantId}`;

/** The statements of the sweep; exported so that a test can check their query plans. */
export const statements = {
  /** The tenant after another one. */
  tenants: (after: string): SQL => sql`select id from tenants where id > ${after}::uuid order by id limit 1`,
  /** Packs that rows name and no revision reads. */
  deadPacks: (tenantId: string): SQL =>
    sql`select distinct pack from texts where tenant_id = ${tenantId} except (${packsOf(sql`${tenantId}::uuid`)})`,
  /** Deletes a page of the rows of some packs. */
  rows: (tenantId: string, packs: readonly string[]): SQL => sql`delete from texts where ctid = any(array(
      select ctid from texts where tenant_id = ${tenantId} and pack = any(${arrayOf(packs, "text")})
        and created_at < now() - make_interval(hours => ${GRACE_HOURS}) order by pack limit ${SWEEP_PAGE})) returning 1`,
  /** Ids of the objects of a tenant that are in use. */
  live: (tenantId: string): SQL => sql`select 'pack' as kind, pack as id from texts where tenant_id = ${tenantId}
      union (select 'pack', p.id from (${packsOf(sql`${tenantId}::uuid`)}) p(id))
      union (select 'list', r.text_list from workspaces w join revisions r on r.workspace_id = w.id where w.tenant_id = ${tenantId})`,
};

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

/**
 * Removes unreferenced objects, then unreferenced rows; returns their numbers. An object goes a day after the last row that names it: a
 * run that found the row before may refer to the pack until then.
 */
export async function sweepTexts(
  db: Db,
  bucket: SearchBucket,
  now: number,
): Promise<{ objects: number; rows: number }> {
  const objects = await sweepObjects(db, bucket, now);
  let rows = 0;
  for (let after = BEFORE_ALL; ;) {
    const [tenant] = await rowsOf<{ id: string }>(db, statements.tenants(after));
    if (!tenant) return { objects, rows };
    after = tenant.id;
    const dead = (await rowsOf<{ pack: string }>(db, statements.deadPacks(tenant.id))).map(({ pack }) => pack);
    for (let deleted = dead.length > 0 ? SWEEP_PAGE : 0; deleted === SWEEP_PAGE; rows += deleted)
      deleted = (await rowsOf(db, statements.rows(tenant.id, dead))).length;
  }
}

async function sweepObjects(db: Db, bucket: SearchBucket, now: number): Promise<number> {
  let removed = 0;
  let tenantId: string | undefined;
  let live = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await bucket.list(cursor === undefined ? { prefix: TEXTS_PREFIX } : { prefix: TEXTS_PREFIX, cursor });
    const dead: string[] = [];
    for (const { key, uploaded } of page.objects) {
      if (now - uploaded.getTime() <= GRACE_MS) continue;
      // Keys are listed in order, so all objects of a tenant follow one another.
      const owner = key.slice(TEXTS_PREFIX.length).split("/")[0] ?? "";
      if (owner !== tenantId) {
        tenantId = owner;
        live = await liveKeys(db, owner);
      }
      if (!live.has(key)) dead.push(key);
    }
    if (dead.length > 0) await bucket.delete(dead);
    removed += dead.length;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return removed;
}

async function liveKeys(db: Db, tenantId: string): Promise<Set<string>> {
  if (!isUuid(tenantId)) return new Set();
  const rows = await rowsOf<{ kind: "pack" | "list"; id: string | null }>(db, statements.live(tenantId));
  const keyOf = { pack: packKey, list: listKey };
  return new Set(rows.flatMap(({ kind, id }) => (id === null ? [] : [keyOf[kind](tenantId, id)])));
}
