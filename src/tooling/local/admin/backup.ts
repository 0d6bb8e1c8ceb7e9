/**
 * Back-up and restore of a deployment: every table as gzipped lines of JSON, and the objects of the snapshot bucket. `backup.json` is
 * written last and lists everything, so a folder without it is no complete back-up.
 *
 *   <folder>/backup.json   <folder>/tables/<table>.jsonl.gz   <folder>/objects/<key>
 */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { sql } from "drizzle-orm";
import * as z from "zod";
import { fileChecksum } from "../../../cli/machine/checksum.ts";
import type { Db } from "../../../service/db/client.ts";
import { rowsOf } from "../../../service/db/rows.ts";
import { OperatorError } from "../../errors.ts";
import { parseJson } from "../stack/local-secrets.ts";
import type { Bucket } from "./bucket.ts";
import { KEY_PLACES } from "./encryption-key.ts";
import { checkTables, countRows, finishPointers, readTable, TABLES, type TableName, writeTable } from "./tables.ts";
import { makeTarget } from "./target-folder.ts";

const VERSION = 1;

const Manifest = z.object({
  version: z.literal(VERSION),
  createdAt: z.string(),
  rows: z.record(z.string(), z.int()),
  objects: z.record(z.string(), z.object({ size: z.int(), sha256: z.string() })),
});
export type Manifest = z.infer<typeof Manifest>;

interface BackupOptions {
  folder: string;
  /** Undefined: rows only; the objects are backed up by other means. */
  bucket: Bucket | undefined;
  /** The database is a branch without writers, so unfinished runs are allowed. */
  isBranch: boolean;
}

/** Writes a back-up. Throws `OperatorError` if runs are active or were started meanwhile: their rows would be incomplete. */
export async function backUp(db: Db, { folder, bucket, isBranch }: BackupOptions): Promise<Manifest> {
  await checkTables(db);
  if (existsSync(path.join(folder, "backup.json")))
    throw new OperatorError(`${folder} already contains a back-up: choose another folder`);
  const before = await runsOf(db);
  if (before.unfinished > 0 && !isBranch)
    throw new OperatorError(
      `${before.unfinished} ${before.unfinished === 1 ? "run is" : "runs are"} under way: wait for the end, or back up a branch of the database (--branch)`,
    );
  makeTarget(path.join(folder, "tables"));
  const rows: Record<string, number> = {};
  for (const table of TABLES) rows[table] = await writeLines(tableFile(folder, table), readTable(db, table));
  const objects = bucket === undefined ? {} : await copyObjects(bucket, folder);
  if (!isBranch && JSON.stringify(await runsOf(db)) !== JSON.stringify(before))
    throw new OperatorError("a run was started meanwhile: back up again");
  const manifest = { version: VERSION, createdAt: new Date().toISOString(), rows, objects } as const;
  writeFileSync(path.join(folder, "backup.json"), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return manifest;
}

/**
 * Replaces the whole database with a back-up and puts its objects into the bucket. Throws `OperatorError` before any change if the
 * back-up is incomplete, or if the service has another ENCRYPTION_KEY, with which no credential of the back-up would work.
 */
export async function restore(db: Db, { folder, bucket }: Pick<BackupOptions, "folder" | "bucket">): Promise<Manifest> {
  const file = path.join(folder, "backup.json");
  const manifest = Manifest.safeParse(existsSync(file) ? parseJson(readFileSync(file, "utf8")) : undefined);
  if (!manifest.success) throw new OperatorError(`${folder} contains no complete back-up of this version`);
  const { rows, objects } = manifest.data;
  for (const [key, { sha256 }] of Object.entries(objects)) {
    if ((await fileChecksum(existingObject(folder, key))) !== `sha256:${sha256}`)
      throw new OperatorError(`the back-up's object ${key} is damaged`);
  }
  checkFiles(folder, rows);
  await checkTables(db);
  await checkCredentialKey(db, folder);
  if (bucket) {
    for (const [key, { sha256 }] of Object.entries(objects)) {
      await bucket.put(key, existingObject(folder, key), sha256);
    }
  }
  await db.execute(
    sql`truncate ${sql.join(
      TABLES.map((table) => sql.identifier(table)),
      sql`, `,
    )} cascade`,
  );
  for (const table of TABLES) {
    // Added after the version that made the back-up.
    if (rows[table] === undefined) continue;
    const written = await writeTable(db, table, linesOf(tableFile(folder, table)));
    if (written !== rows[table])
      throw new OperatorError(`${table}: the back-up has ${written} rows, but backup.json says ${rows[table]}`);
  }
  const workspaces: string[] = [];
  for await (const line of linesOf(tableFile(folder, "workspaces"))) workspaces.push(line);
  await finishPointers(db, workspaces);
  for (const table of TABLES) {
    const found = await countRows(db, table);
    if (found < (rows[table] ?? 0))
      throw new OperatorError(`${table}: ${found} rows after the restore, ${rows[table]} expected`);
  }
  return manifest.data;
}

/** Throws `OperatorError` if a table of the back-up is missing, or is one that a later version has added. */
function checkFiles(folder: string, rows: Manifest["rows"]): void {
  for (const name of Object.keys(rows)) {
    const table = TABLES.find((known) => known === name);
    if (table === undefined)
      throw new OperatorError(
        `the back-up has a table that this version does not know (${name}): restore it with a later one`,
      );
    if (!existsSync(tableFile(folder, table))) throw new OperatorError(`the back-up's table ${table} is missing`);
  }
}

async function runsOf(db: Db): Promise<{ unfinished: number; newest: string | null }> {
  const [row] = await rowsOf<{ unfinished: number; newest: string | null }>(
    db,
    sql`select count(*) filter (where state in ('queued', 'running'))::int as unfinished, max(created_at)::text as newest from runs`,
  );
  return row ?? { unfinished: 0, newest: null };
}

async function checkCredentialKey(db: Db, folder: string): Promise<void> {
  const kept: unknown[] = [];
  for await (const line of linesOf(tableFile(folder, "service_settings"))) kept.push(parseJson(line));
  const keyOf = (rows: unknown[]) =>
    (rows as { name: string; value: string }[]).find(({ name }) => name === "credential_key")?.value;
  const here = keyOf(await rowsOf(db, sql`select name, value from service_settings`));
  if (here !== undefined && keyOf(kept) !== undefined && here !== keyOf(kept))
    throw new OperatorError(
      `the service was set up with another ENCRYPTION_KEY: start an empty one with that of the back-up's service (${KEY_PLACES}), then restore`,
    );
}

const tableFile = (folder: string, table: TableName) => path.join(folder, "tables", `${table}.jsonl.gz`);

/** Encodes a key as a single file name, so that no key can escape the folder. */
const objectFile = (folder: string, key: string) => path.join(folder, "objects", encodeURIComponent(key));

function existingObject(folder: string, key: string): string {
  const file = objectFile(folder, key);
  if (!existsSync(file)) throw new OperatorError(`the back-up's object ${key} is missing`);
  return file;
}

async function copyObjects(bucket: Bucket, folder: string): Promise<Manifest["objects"]> {
  makeTarget(path.join(folder, "objects"));
  const objects: Manifest["objects"] = {};
  for await (const { key } of bucket.list()) {
    const hash = createHash("sha256");
    let size = 0;
    const measured = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    };
    await pipeline(await bucket.get(key), measured, createWriteStream(objectFile(folder, key), { mode: 0o600 }));
    objects[key] = { size, sha256: hash.digest("hex") };
  }
  return objects;
}

/** Writes gzipped lines and returns their number. */
export async function writeLines(file: string, pages: AsyncIterable<string[]>): Promise<number> {
  let count = 0;
  async function* lines() {
    for await (const page of pages) {
      count += page.length;
      yield `${page.join("\n")}\n`;
    }
  }
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(file, { mode: 0o600 }));
  return count;
}

/** Lines of a gzipped file. */
async function* linesOf(file: string): AsyncGenerator<string> {
  if (!existsSync(file)) throw new OperatorError(`the back-up has no ${path.basename(file)}`);
  for await (const line of createInterface({ input: createReadStream(file).pipe(createGunzip()) })) yield line;
}
