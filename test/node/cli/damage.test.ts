import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { takeWriteLock } from "../../../src/cli/indexing/lock.ts";
import { sampleFiles, Sandbox } from "./support/run.ts";

vi.setConfig({ testTimeout: 120_000 });

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("app", sampleFiles(6));
});
afterEach(() => sandbox.remove());

function indexFolder(cache = "cache"): string {
  const repos = sandbox.path(cache, "codectx/repos");
  return join(repos, readdirSync(repos)[0]!);
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile() && statSync(file).size > 0)
    .sort();
}

describe("a damaged local index", () => {
  const answers = async (cache: string) => {
    const ask = (...args: string[]) =>
      sandbox.ask("app", [...args, "--json"], { env: { XDG_CACHE_HOME: sandbox.path(cache) } });
    const symbol = await ask("symbol", "Holder3");
    const outline = await ask("outline", "src/module2.ts");
    const index = await ask("index", "--local");
    const { fileCount, symbolCount, chunkCount, fingerprint } = index.json;
    return {
      codes: [symbol.code, outline.code, index.code],
      symbols: symbol.json["symbols"],
      outline: outline.json["symbols"],
      index: { fileCount, symbolCount, chunkCount, fingerprint },
    };
  };

  it("answers as before after any bytes of any file were changed", async () => {
    await sandbox.ask("app", ["index", "--local", "--json"]);
    const right = await answers("cache");
    expect(right.codes).toEqual([0, 0, 0]);
    const flips = fc.array(
      fc.record({ at: fc.double({ min: 0, max: 0.999, noNaN: true }), mask: fc.integer({ min: 1, max: 255 }) }),
      {
        minLength: 1,
        maxLength: 40,
      },
    );
    // Each index in a folder of its own, of which the process of commands knows nothing.
    let copies = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(), flips, async (which, changes) => {
        const copy = `copy-${copies++}`;
        cpSync(sandbox.path("cache"), sandbox.path(copy), { recursive: true });
        const files = filesOf(indexFolder(copy));
        const file = files[which % files.length]!;
        const bytes = readFileSync(file);
        for (const { at, mask } of changes) {
          const offset = Math.floor(at * bytes.length);
          bytes[offset] = bytes[offset]! ^ mask;
        }
        writeFileSync(file, bytes);
        expect(await answers(copy)).toEqual(right);
        rmSync(sandbox.path(copy), { recursive: true });
      }),
      { numRuns: 12 },
    );
  });

  it("keeps the vectors that are still good", async () => {
    await sandbox.run("app", ["index", "--local", "--json"]);
    const paid = sandbox.service.embedded.length;
    const file = join(indexFolder(), "index.sqlite");
    const db = new DatabaseSync(file);
    const { stored } = db
      .prepare(
        "select bytes as stored from contents join parsed on content_id = contents.id where language = 'typescript' limit 1",
      )
      .get() as { stored: Uint8Array };
    db.close();
    const bytes = readFileSync(file);
    // SQLite may store the end of a long value on other pages.
    const at = bytes.indexOf(stored.subarray(0, 100));
    expect(at).toBeGreaterThan(0);
    bytes[at + 50] = bytes[at + 50]! ^ 1;
    writeFileSync(file, bytes);
    sandbox.write("app/src/more.ts", "export const more = 1;\n");
    const healed = await sandbox.run("app", ["publish", "--json"]);
    expect(healed.code).toBe(0);
    expect(healed.stderr).toContain("was damaged and is rebuilt");
    expect(sandbox.service.embedded.length).toBe(paid);

    const search = join(indexFolder(), "search");
    for (const name of readdirSync(search).filter((name) => name.endsWith(".segment")))
      writeFileSync(join(search, name), readFileSync(join(search, name)).fill(0, 200));
    const again = await sandbox.run("app", ["publish", "--force", "--json"]);
    expect(again).toMatchObject({ code: 0, json: { checksum: healed.json["checksum"] } });
  });

  it("says one line, and nothing the next time", async () => {
    await sandbox.run("app", ["index", "--local", "--json"]);
    writeFileSync(join(indexFolder(), "index.sqlite"), "garbage, longer than a header of SQLite".repeat(100));
    const healed = await sandbox.run("app", ["symbol", "Holder3"]);
    expect(healed.code).toBe(0);
    expect(healed.stderr.trim().split("\n")).toEqual([expect.stringContaining("was damaged and is rebuilt")]);
    expect(await sandbox.run("app", ["symbol", "Holder3"])).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("a lock file that is garbage", () => {
  it("is no error, and the lock still excludes", async () => {
    await sandbox.run("app", ["index", "--local", "--no-embed", "--json"]);
    const folder = indexFolder();
    writeFileSync(join(folder, "lock.sqlite"), "garbage".repeat(1_000));
    writeFileSync(join(folder, "lock.json"), "{");
    const lock = await takeWriteLock(folder, { command: "test", waitMs: 0 });
    await expect(takeWriteLock(folder, { command: "test", waitMs: 0 })).rejects.toMatchObject({ code: "INDEX_BUSY" });
    lock.release();
    expect((await sandbox.run("app", ["index", "--local", "--no-embed"])).code).toBe(0);
  });
});
