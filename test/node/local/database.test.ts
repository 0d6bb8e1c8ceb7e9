import { fork } from "node:child_process";
import { once } from "node:events";
import { neon } from "@neondatabase/serverless";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startDatabase } from "../../../src/tooling/local/database/database.ts";
import { processIdentity } from "../../../src/tooling/local/stack/processes.ts";

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

  it("is opened again after its service was killed, when the statement that it was working on has ended", async () => {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-database-"));
    const compiled = mkdtempSync(path.join(os.tmpdir(), "code-context-compiled-"));
    try {
      const service = fork(new URL("../../support/database-service.ts", import.meta.url), [dataDir], {
        env: { ...process.env, NODE_COMPILE_CACHE: compiled },
        execArgv: ["--import", new URL("../../../src/tooling/local/drizzle-imports.mjs", import.meta.url).href],
      });
      onTestFinished(() => void service.kill("SIGKILL"));
      const [url] = (await once(service, "message")) as [string];
      // Neither process has ended, which is when Node writes what it has compiled.
      const modules = () =>
        readdirSync(compiled, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      await expect.poll(() => modules().length).toBeGreaterThan(10);
      await neon(url)`insert into tenants (id, name) values (gen_random_uuid(), 'kept')`;
      const slow = neon(url)`select count(*) from generate_series(1, 4000000)`.catch(() => undefined);
      const { pid } = JSON.parse(readFileSync(path.join(dataDir, "database.pid"), "utf8")) as { pid: number };
      await new Promise((resolve) => setTimeout(resolve, 200));
      service.kill("SIGKILL");
      await once(service, "exit");
      expect(processIdentity(pid), "the statement is still running").toMatch(/^\d+$|:/);

      const running = await startDatabase({ dataDir });
      await slow;
      expect([undefined, "ended"]).toContain(processIdentity(pid));
      expect(await neon(running.url)`select name from tenants`).toEqual([{ name: "kept" }]);
      await running.close();
      expect(existsSync(path.join(dataDir, "database.pid"))).toBe(false);
    } finally {
      rmSync(compiled, { recursive: true, force: true });
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

describe("a new database", () => {
  it("is a copy of one that was made once, and is removed if it is temporary when it is closed or does not start", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "code-context-temporary-"));
    const { TMPDIR } = process.env;
    process.env["TMPDIR"] = folder;
    try {
      const identities: unknown[] = [];
      for (const name of ["one", "two"]) {
        const running = await startDatabase();
        const database = neon(running.url);
        await database`insert into tenants (id, name) values (gen_random_uuid(), ${name})`;
        expect(await database`select name from tenants`).toEqual([{ name }]);
        const [row] = await database`select system_identifier::text as id from pg_control_system()`;
        identities.push(row?.["id"]);
        expect(readdirSync(folder)).toHaveLength(1);
        await running.close();
        expect(readdirSync(folder)).toEqual([]);
      }
      const port = createServer().listen(0, "127.0.0.1");
      await once(port, "listening");
      await expect(startDatabase({ port: (port.address() as AddressInfo).port })).rejects.toThrow();
      port.close();
      expect(readdirSync(folder)).toEqual([]);
      expect(identities[0], "PostgreSQL gives each database that it initialises another").toBe(identities[1]);
    } finally {
      if (TMPDIR === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = TMPDIR;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
