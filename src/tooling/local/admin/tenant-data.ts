/** Data of a tenant: its export, and the check that none is left after an erasure. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { sql } from "drizzle-orm";
import type { Db } from "../../../service/db/client.ts";
import { rowsOf } from "../../../service/db/rows.ts";
import { OperatorError } from "../../errors.ts";
import type { Bucket } from "./bucket.ts";
import { writeLines } from "./backup.ts";
import { checkTables, TABLES, type TableName } from "./tables.ts";
import { makeTarget } from "./target-folder.ts";

type Owner = "tenant_id" | "workspace_id" | "content_id" | "hook_id" | "id" | "member";

/** Column that assigns the rows of a table to a tenant; tables not listed belong to no tenant. */
const OWNERS: Partial<Record<TableName, Owner>> = {
  tenants: "id",
  users: "member",
  symbols: "content_id",
  chunks: "content_id",
  revisions: "workspace_id",
  revision_files: "workspace_id",
  revision_overlays: "workspace_id",
  revision_refs: "workspace_id",
  repository_sources: "workspace_id",
  hook_deliveries: "hook_id",
};
/** Settings of the deployment, sessions and credits of people who may be in several teams, and the log of erasures. */
const OF_NOBODY = new Set<TableName>(["service_settings", "sessions", "account_credits", "erasures"]);
/** Columns with hashes of secrets or sealed secrets. */
const SECRET_COLUMNS = ["secret_hash", "token_hash", "sealed_token", "sealed_secret", "submission"];
const PAGE = 5_000;

function conditionOf(table: TableName, tenantId: string) {
  const column = OWNERS[table] ?? "tenant_id";
  switch (column) {
    case "id":
    case "tenant_id":
      return sql`${sql.identifier(column)} = ${tenantId}::uuid`;
    case "member":
      return sql`id in (select user_id from memberships where tenant_id = ${tenantId}::uuid)`;
    case "workspace_id":
      return sql`workspace_id in (select id from workspaces where tenant_id = ${tenantId}::uuid)`;
    case "content_id":
      return sql`content_id in (select id from contents where tenant_id = ${tenantId}::uuid)`;
    case "hook_id":
      return sql`hook_id in (select id from hooks where tenant_id = ${tenantId}::uuid)`;
  }
}

const tablesOfTenants = TABLES.filter((table) => !OF_NOBODY.has(table));

interface ExportReport {
  folder: string;
  rows: number;
  objects: number;
}

/**
 * Writes all rows of a tenant as gzipped lines of JSON, a file a table, without hashes of credentials and without sealed secrets, and the list of its
 * objects. Throws `OperatorError` if the tenant does not exist.
 */
export async function exportTenant(
  db: Db,
  { tenantId, folder, bucket }: { tenantId: string; folder: string; bucket: Bucket | undefined },
): Promise<ExportReport> {
  await checkTables(db);
  const [tenant] = await rowsOf(db, sql`select 1 from tenants where id = ${tenantId}::uuid`);
  if (!tenant) throw new OperatorError(`there is no tenant ${tenantId}`);
  makeTarget(folder);
  let rows = 0;
  for (const table of tablesOfTenants) {
    rows += await writeLines(path.join(folder, `${table}.jsonl.gz`), rowsOfTenant(db, table, tenantId));
  }
  const objects: { key: string; size: number }[] = [];
  const snapshots = await rowsOf<{ id: string }>(db, sql`select id from snapshots where tenant_id = ${tenantId}::uuid`);
  if (bucket) {
    for (const prefix of [
      `search/${tenantId}/`,
      `texts/${tenantId}/`,
      ...snapshots.map(({ id }) => `snapshots/${id}/`),
    ]) {
      for await (const object of bucket.list(prefix)) objects.push(object);
    }
  }
  writeFileSync(path.join(folder, "objects.json"), `${JSON.stringify(objects, null, 2)}\n`, { mode: 0o600 });
  return { folder, rows, objects: objects.length };
}

async function* rowsOfTenant(db: Db, table: TableName, tenantId: string): AsyncGenerator<string[]> {
  const name = sql.identifier(table);
  const secrets = sql.join(
    SECRET_COLUMNS.map((column) => sql` - ${column}::text`),
    sql``,
  );
  for (let after = "(0,0)"; ;) {
    const page = await rowsOf<{ row: string; at: string }>(
      db,
      sql`select (to_jsonb(t)${secrets})::text as row, ctid::text as at from ${name} t
          where ${conditionOf(table, tenantId)} and ctid > ${after}::tid order by ctid limit ${PAGE}`,
    );
    if (page.length > 0) yield page.map(({ row }) => row);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.at;
  }
}

/** Number of a tenant's rows by table, without empty tables. Also finds rows whose owner no longer exists. */
export async function rowsLeft(db: Db, tenantId: string): Promise<Record<string, number>> {
  const left: Record<string, number> = {};
  for (const table of tablesOfTenants) {
    const [row] = await rowsOf<{ count: number }>(
      db,
      sql`select count(*)::int as count from ${sql.identifier(table)} where ${conditionOf(table, tenantId)}`,
    );
    if (row && row.count > 0) left[table] = row.count;
  }
  return left;
}
