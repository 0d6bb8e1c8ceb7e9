import { neon } from "@neondatabase/serverless";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startDatabase } from "../../../src/tooling/local/database/database.ts";

describe("a data directory", () => {
  it("keeps the statistics of its tables, and vacuums what is dead, as PostgreSQL does by itself", async () => {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-database-"));
    const running = await startDatabase({ dataDir });
    try {
      const kept = neon(running.url);
      const table = async () => {
        const [row] = await kept`select last_analyze is not null as analyzed, last_vacuum is not null as vacuumed
          from pg_stat_user_tables where relname = 'tenants'`;
        return row;
      };
      await kept`insert into tenants (id, name, slug) select gen_random_uuid(), 'n' || i, 's' || i from generate_series(1, 500) i`;
      await expect.poll(table, { interval: 200 }).toEqual({ analyzed: true, vacuumed: false });
      await kept`delete from tenants`;
      await expect.poll(table, { interval: 200 }).toEqual({ analyzed: true, vacuumed: true });
    } finally {
      await running.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it("keeps rows and password, and no one else can read it", async () => {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-database-"));
    try {
      const first = await startDatabase({ dataDir });
      const id = crypto.randomUUID();
      await neon(first.url)`insert into tenants (id, name) values (${id}, 'kept')`;
      await first.close();
      expect(statSync(path.join(dataDir, "secrets.json")).mode & 0o777).toBe(0o600);
      expect(statSync(path.join(dataDir, "database")).mode & 0o777).toBe(0o700);

      const second = await startDatabase({
        dataDir,
        port: Number(new URL(first.url.replace(/^postgres:/, "http:")).port),
      });
      expect(second.url).toBe(first.url);
      expect(await neon(second.url)`select name from tenants where id = ${id}`).toEqual([{ name: "kept" }]);
      await second.close();

      rmSync(path.join(dataDir, "database", "global"), { recursive: true });
      await expect(startDatabase({ dataDir })).rejects.toThrow(/cannot be opened/);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
