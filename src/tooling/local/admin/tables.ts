/** The tables as rows of JSON, for back-ups and tenant exports. */
import { sql } from "drizzle-orm";
import type { Db } from "../../../service/db/client.ts";
import { rowsOf } from "../../../service/db/rows.ts";
import { OperatorError } from "../../errors.ts";

/** In insertion order: referenced tables come first. */
export const TABLES = [
  "service_settings",
  "users",
  "tenants",
  "memberships",
  "credentials",
  "workspaces",
  "revisions",
  "contents",
  "texts",
  "git_blobs",
  "symbols",
  "chunks",
  "vectors",
  "revision_files",
  "revision_overlays",
  "revision_refs",
  "runs",
  "notices",
  "snapshots",
  "sessions",
  "invitations",
  "github_apps",
  "repository_sources",
  "hooks",
  "hook_deliveries",
  "usage_days",
  "usage_months",
  "account_credits",
  "audit_events",
  "erasures",
] as const;
export type TableName = (typeof TABLES)[number];

/** What is of use for minutes or a day. Mail would be sent again after a restore; the daily sweep removes the revisions of overlays. */
const LEFT_OUT = ["sign_in_codes", "sign_in_guesses", "mails", "overlays"];
/** Blocks of a table, of 8 KiB each, that are read per query. */
const PAGE_BLOCKS = 64;
const INSERT_CHARACTERS = 1_000_000;

/** Throws `OperatorError` if the tables are not those of this version: the database needs migrations, or a newer version of this command. */
export async function checkTables(db: Db): Promise<void> {
  const rows = await rowsOf<{ name: string }>(
    db,
    // An extension may have tables here, too.
    sql`select relname as name from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`,
  );
  const found = rows.map(({ name }) => name).toSorted();
  const known = [...TABLES, ...LEFT_OUT].toSorted();
  const different = [
    ...found.filter((name) => !known.includes(name)),
    ...known.filter((name) => !found.includes(name)),
  ];
  if (different.length > 0)
    throw new OperatorError(
      `the database is of another version (${different.join(", ")}): run npm run db:migrate with this one`,
    );
}

/** All rows of a table as JSON texts, in pages of a few blocks. Rows written meanwhile may be missed. */
export async function* readTable(db: Db, table: TableName): AsyncGenerator<string[]> {
  const name = sql.identifier(table);
  const [size] = await rowsOf<{ blocks: number }>(
    db,
    sql`select (pg_relation_size(${table}) / current_setting('block_size')::int)::int as blocks`,
  );
  for (let block = 0; block < (size?.blocks ?? 0); block += PAGE_BLOCKS) {
    const rows = await rowsOf<{ row: string }>(
      db,
      sql`select row_to_json(t)::text as row from ${name} t
          where ctid >= ${`(${block},0)`}::tid and ctid < ${`(${block + PAGE_BLOCKS},0)`}::tid`,
    );
    if (rows.length > 0) yield rows.map(({ row }) => row);
  }
}

/** Inserts rows in the format of `readTable`, of one version of the table: columns that it lacks get their defaults. */
export async function writeTable(
  db: Db,
  table: TableName,
  rows: AsyncIterable<string> | Iterable<string>,
): Promise<number> {
  const name = sql.identifier(table);
  // These columns refer to tables that are restored later; `finishPointers` sets them.
  const source =
    table === "workspaces"
      ? sql`json_populate_recordset(null::workspaces, (select json_agg(r::jsonb || '{"current_seq":null,"current_snapshot_id":null}') from json_array_elements(`
      : sql`json_populate_recordset(null::${name}, `;
  const end = table === "workspaces" ? sql`) r))` : sql`)`;
  let batch: string[] = [];
  let characters = 0;
  let total = 0;
  const known = await columnsOf(db, table);
  const flush = async () => {
    const [first] = batch;
    if (first === undefined) return;
    const columns = Object.keys(JSON.parse(first) as object).filter((column) => known.has(column));
    const list = sql.join(
      columns.map((column) => sql.identifier(column)),
      sql`, `,
    );
    await db.execute(
      sql`insert into ${name} (${list}) select ${list} from ${source}${`[${batch.join(",")}]`}::json${end}`,
    );
    total += batch.length;
    batch = [];
    characters = 0;
  };
  for await (const row of rows) {
    if (characters + row.length > INSERT_CHARACTERS) await flush();
    batch.push(row);
    characters += row.length;
  }
  await flush();
  return total;
}

async function columnsOf(db: Db, table: TableName): Promise<Set<string>> {
  const rows = await rowsOf<{ name: string }>(
    db,
    sql`select attname as name from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** Sets the columns of workspaces that `writeTable` omits: the current revision and snapshot. */
export async function finishPointers(db: Db, workspaces: readonly string[]): Promise<void> {
  for (let at = 0; at < workspaces.length; at += 1_000) {
    const rows = `[${workspaces.slice(at, at + 1_000).join(",")}]`;
    await db.execute(sql`update workspaces w set current_seq = r.current_seq, current_snapshot_id = r.current_snapshot_id
      from json_populate_recordset(null::workspaces, ${rows}::json) r where r.id = w.id`);
  }
}

export async function countRows(db: Db, table: TableName): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(db, sql`select count(*)::int as count from ${sql.identifier(table)}`);
  return row?.count ?? 0;
}
