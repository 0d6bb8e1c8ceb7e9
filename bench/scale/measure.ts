/** The unit costs of indexing: rows and bytes in Postgres, objects and bytes in R2, of a first index and of a push that changes three files. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { sql } from "drizzle-orm";
import { startGitServer } from "../../src/tooling/local/git/git-server.ts";
import { startDatabase } from "../../src/tooling/local/database/database.ts";
import { PROJECT_ROOT } from "../../src/tooling/local/project.ts";
import { MemoryBucket, Pipeline } from "../../test/support/pipeline.ts";
import { temporaryFolder } from "../support.ts";

export interface UnitCosts {
  rows: number;
  postgresBytes: number;
  /** Objects that are kept, without staged ones. */
  objects: number;
  objectBytes: number;
  /** Writes to R2, staged objects included. */
  puts: number;
}

const CHANGED = ["src/lib/pause.ts", "src/lib/turns.ts", "README.md"];

class CountingBucket extends MemoryBucket {
  puts = 0;

  override async put(key: string, value: Uint8Array): Promise<void> {
    this.puts++;
    await super.put(key, value);
  }
}

/** Measures this repository's HEAD, with the builtin embedding. Throws if a run fails. */
export async function measureUnitCosts(): Promise<{ first: UnitCosts; push: UnitCosts; files: number }> {
  const folder = temporaryFolder("scale");
  const clone = path.join(folder, "project");
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", clone, "-c", "user.name=bench", "-c", "user.email=bench@example.com", ...args]);
  execFileSync("git", ["clone", "-q", PROJECT_ROOT, clone]);
  const server = await startGitServer(folder);
  const database = await startDatabase();
  try {
    const [kept, staged] = [new CountingBucket(), new CountingBucket()];
    const pipeline = await new Pipeline(database.url, { searchBucket: kept, bucket: staged }).prepare();
    const total = async (): Promise<UnitCosts> => {
      const tables = sql`select relname as name, pg_total_relation_size(relid)::float8 as bytes from pg_stat_user_tables where schemaname = 'public'`;
      const { rows } = await pipeline.db.execute<{ name: string; bytes: number }>(tables);
      let count = 0;
      for (const { name } of rows) {
        const [counted] = (await pipeline.db.execute(sql`select count(*)::int as n from ${sql.identifier(name)}`)).rows;
        count += Number(counted?.["n"]);
      }
      const objects = [...kept.objects.values()];
      return {
        rows: count,
        postgresBytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
        objects: objects.length,
        objectBytes: objects.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
        puts: kept.puts + staged.puts,
      };
    };
    const index = async () => {
      const { result, error } = await pipeline.run({ url: `${server.origin}/project/.git` });
      if (error) throw new Error(error.error);
      return result as { fileCount: number };
    };
    const empty = await total();
    const { fileCount } = await index();
    const first = await total();
    for (const file of CHANGED) {
      const name = path.join(clone, file);
      writeFileSync(name, `${readFileSync(name, "utf8")}\n// A line more.\n`);
    }
    git("commit", "-qam", "change");
    await index();
    return { first: difference(first, empty), push: difference(await total(), first), files: fileCount };
  } finally {
    await database.close();
    await server.close();
  }
}

function difference(after: UnitCosts, before: UnitCosts): UnitCosts {
  return {
    rows: after.rows - before.rows,
    postgresBytes: after.postgresBytes - before.postgresBytes,
    objects: after.objects - before.objects,
    objectBytes: after.objectBytes - before.objectBytes,
    puts: after.puts - before.puts,
  };
}
