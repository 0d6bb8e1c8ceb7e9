/** Daily removal of texts that no revision refers to. */
import { type SQL, sql } from "drizzle-orm";
import { arrayOf } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { rowsOf } from "../../db/rows.ts";
import { SearchFormatError } from "../../../engines/search/types.ts";
import { TextPack } from "../../../engines/texts/pack.ts";
import { openObject, RangeCache } from "../read.ts";
import type { SearchBucket } from "../store.ts";
import { putFilters } from "./put-pack.ts";
import { isUuid, NIL_UUID } from "../../../lib/uuid.ts";
import { earlierFiltersKey, filtersKey, listKey, packKey, TEXTS_PREFIX } from "./store.ts";

/** Younger objects and rows may belong to a run that is not finished. */
const GRACE_HOURS = 24;
/** Of one pack that is read: the block under way, and what opening it has read. */
const CACHE_BYTES = 1024 * 1024;
const GRACE_MS = GRACE_HOURS * 3_600_000;
/** Packs of earlier versions that get filters in one sweep: each is read whole. */
const MAX_FILTERED_PACKS = 200;
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

/**
 * Removes unreferenced objects, then unreferenced rows; returns their numbers. Packs without filters get them. An object goes a day after the last row that names it: a
 * run that found the row before may refer to the pack until then.
 */
export async function sweepTexts(
  db: Db,
  bucket: SearchBucket,
  now: number,
): Promise<{ objects: number; rows: number }> {
  const objects = await sweepObjects(db, bucket, now);
  let rows = 0;
  for (let after = NIL_UUID; ;) {
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
  let live: LiveObjects = new Map();
  let filtered = new Set<string>();
  let madeFilters = 0;
  let cursor: string | undefined;
  do {
    const page = await bucket.list(cursor === undefined ? { prefix: TEXTS_PREFIX } : { prefix: TEXTS_PREFIX, cursor });
    const dead: string[] = [];
    for (const { key, uploaded } of page.objects) {
      // Keys are listed in order, so all objects of a tenant follow one another, filters before packs.
      const owner = key.slice(TEXTS_PREFIX.length).split("/")[0] ?? "";
      if (owner !== tenantId) {
        tenantId = owner;
        filtered = new Set();
        live = await liveObjects(db, owner);
      }
      filtered.add(key);
      if (now - uploaded.getTime() <= GRACE_MS) continue;
      const pack = live.get(key);
      if (pack === undefined) dead.push(key);
      else if (pack !== null && !filtered.has(filtersKey(owner, pack)) && madeFilters < MAX_FILTERED_PACKS) {
        madeFilters++;
        await addFilters(bucket, owner, pack);
      }
    }
    if (dead.length > 0) await bucket.delete(dead);
    removed += dead.length;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return removed;
}

/** Keys of objects that are in use; of a pack with its id. */
type LiveObjects = Map<string, string | null>;

async function liveObjects(db: Db, tenantId: string): Promise<LiveObjects> {
  const live: LiveObjects = new Map();
  if (!isUuid(tenantId)) return live;
  const rows = await rowsOf<{ kind: "pack" | "list"; id: string | null }>(db, statements.live(tenantId));
  for (const { kind, id } of rows) {
    if (id === null) continue;
    if (kind === "list") live.set(listKey(tenantId, id), null);
    else
      live
        .set(packKey(tenantId, id), id)
        .set(filtersKey(tenantId, id), null)
        .set(earlierFiltersKey(tenantId, id), null);
  }
  return live;
}

/** Makes the filters of a pack, in place of earlier ones. One that cannot be read is left to the repair of who asks for its texts. */
async function addFilters(bucket: SearchBucket, tenantId: string, id: string): Promise<void> {
  const cache = new RangeCache(CACHE_BYTES);
  try {
    const pack = await TextPack.open(await openObject(bucket, packKey(tenantId, id), { cache }));
    await putFilters(bucket, tenantId, id, pack);
    await bucket.delete(earlierFiltersKey(tenantId, id));
  } catch (error) {
    if (!(error instanceof SearchFormatError) && !(error instanceof RangeError)) throw error;
  }
}
