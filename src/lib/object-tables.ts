/** Versions of the tables in a Durable Object's SQLite, and their upgrades. */

/** The subset of a Durable Object's `SqlStorage` that is used. */
export interface Sql {
  exec<T extends Record<string, ArrayBuffer | string | number | null>>(
    query: string,
    ...bindings: (ArrayBuffer | string | number | null)[]
  ): { toArray(): T[] };
}

/** The subset of a Durable Object's storage that is used. */
export interface TableStorage {
  readonly sql: Sql;
  transactionSync<T>(change: () => T): T;
}

/**
 * The tables of one class of Durable Objects. The version is the number of upgrades plus one.
 *
 * To change a layout: change `create`, append the statements that change existing tables to `upgrades`, and add what the
 * previous release wrote to `test/worker/upgrades`. An earlier release may be deployed again (`deploy rollback`). If it can
 * work on the new tables, because the change only added tables, or columns with a default, leave `readableFrom` as it is;
 * otherwise set it to the new version, and the earlier release refuses the tables. Inserts name their columns for this reason.
 */
export interface ObjectTables {
  /** Name of the class, for errors. */
  object: string;
  /** Creates the tables in their current layout. */
  create: string;
  /** `upgrades[i]` turns tables of version `i + 1` into version `i + 2`. */
  upgrades: readonly string[];
  /** The lowest version whose code works on the current layout. */
  readableFrom: number;
  /** Version of tables from before versions were recorded; 0 if the object has none. */
  unversioned: (has: (table: string, column?: string) => boolean) => number;
}

const VERSION_TABLE = "create table tables_version (version integer not null, readable_from integer not null);";

/**
 * Upgrades an object's tables to the current version, all or nothing. Returns false if the object has no tables. Throws
 * for tables of a later release, unless that release declared them readable for this one.
 */
export function openTables(storage: TableStorage, tables: ObjectTables): boolean {
  const { sql } = storage;
  const has = (table: string, column?: string) =>
    sql.exec("select 1 from pragma_table_info(?1) where ?2 is null or name = ?2", table, column ?? null).toArray()
      .length > 0;
  const current = tables.upgrades.length + 1;
  const recorded = has("tables_version") ? readVersion(sql) : undefined;
  if (recorded && recorded.version > current && recorded.readableFrom > current) {
    throw new Error(
      `the tables of this ${tables.object} have version ${recorded.version}; this release reads them up to version ${current}. ` +
        "Deploy the later release again.",
    );
  }
  const version = recorded?.version ?? tables.unversioned(has);
  if (version === 0) return false;
  if (recorded && version >= current) return true;
  storage.transactionSync(() => {
    for (const upgrade of tables.upgrades.slice(version - 1)) sql.exec(upgrade);
    if (!recorded) sql.exec(VERSION_TABLE);
    writeVersion(sql, tables);
  });
  return true;
}

/** Creates the tables of an object that has none. */
export function createTables(storage: TableStorage, tables: ObjectTables): void {
  storage.transactionSync(() => {
    storage.sql.exec(VERSION_TABLE + tables.create);
    writeVersion(storage.sql, tables);
  });
}

function readVersion(sql: Sql): { version: number; readableFrom: number } | undefined {
  return sql
    .exec<{ version: number; readableFrom: number }>(
      "select version, readable_from as readableFrom from tables_version",
    )
    .toArray()[0];
}

function writeVersion(sql: Sql, { upgrades, readableFrom }: ObjectTables): void {
  sql.exec("delete from tables_version");
  sql.exec("insert into tables_version values (?, ?)", upgrades.length + 1, readableFrom);
}
