import { readdirSync, renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sampleFiles, Sandbox } from "./support/run.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.create();
});
afterEach(() => sandbox.remove());

/** Spelled apart, so that no scanner takes this file for a key. */
const PRIVATE = "PRIVATE";
const LOCAL = ["index", "--local", "--json"];

function integrity(): unknown[] {
  const repos = sandbox.path("cache/codectx/repos");
  return readdirSync(repos).map((name) => {
    const db = new DatabaseSync(join(repos, name, "index.sqlite"));
    const { integrity_check: check } = db.prepare("pragma integrity_check").get() as { integrity_check: string };
    db.close();
    return check;
  });
}

describe("codectx index --local", () => {
  it("indexes a work tree, and costs nothing where nothing changed", async () => {
    sandbox.repository("app", { ...sampleFiles(5), "package-lock.json": "{}", "logo.png": "x" });
    const first = await sandbox.run("app", LOCAL);
    expect(first.json).toMatchObject({
      ok: true,
      repo: "github.com/acme/app",
      fileCount: 5,
      parsedFiles: 5,
      skipped: { lockfile: 1 },
    });
    expect(first.json["embeddedCount"]).toBe(first.json["chunkCount"]);
    const requests = sandbox.service.requests.length;
    // Files that were just written are looked at once more: their timestamps prove nothing yet.
    const again = await sandbox.ask("app", LOCAL);
    expect(again.json).toMatchObject({ fileCount: 5, parsedFiles: 0, embeddedCount: 0, credits: 0 });
    const third = await sandbox.ask("app", LOCAL);
    expect(third.json).toMatchObject({ fileCount: 5, parsedFiles: 0, skippedUnchanged: 5 });
    expect(sandbox.service.requests.slice(requests).filter((request) => request === "POST /embed")).toEqual([]);
    expect(third.code).toBe(0);
  });

  it("makes an index without vectors where there is no key", async () => {
    sandbox.repository("app", sampleFiles(2));
    const { code, stdout } = await sandbox.ask("app", ["index", "--local"], { env: { CODECTX_API_KEY: undefined } });
    expect(code).toBe(0);
    expect(stdout).toContain("without vectors: `codectx index --local` with an API key");
    expect(sandbox.service.requests).toEqual([]);
  });

  it("embeds only what is new: not for renames, branches, worktrees or other clones", async () => {
    sandbox.repository("app", sampleFiles(4));
    await sandbox.ask("app", LOCAL);
    const paid = sandbox.service.embedded.length;
    renameSync(sandbox.path("app/src/module1.ts"), sandbox.path("app/src/renamed.ts"));
    expect((await sandbox.ask("app", LOCAL)).json).toMatchObject({ parsedFiles: 0, removedFiles: 1, fileCount: 4 });
    sandbox.git("app", "checkout", "-q", "-f", "-b", "other");
    sandbox.git("app", "worktree", "add", "-q", sandbox.path("tree"), "main");
    expect((await sandbox.ask("tree", LOCAL)).json).toMatchObject({ parsedFiles: 0, reusedFiles: 4, fileCount: 4 });
    sandbox.clone("app", "clone");
    expect((await sandbox.ask("clone", LOCAL)).json).toMatchObject({ parsedFiles: 0, fileCount: 4 });
    expect(sandbox.service.embedded.length).toBe(paid);
    expect(new Set(sandbox.service.embedded).size).toBe(paid);
    expect(readdirSync(sandbox.path("cache/codectx/repos"))).toHaveLength(1);
  });

  it("respects .gitignore and .codectxignore, and withholds secrets", async () => {
    sandbox.repository("app", {
      ...sampleFiles(1),
      ".gitignore": "built/\n",
      ".codectxignore": "docs/*\n!docs/keep.md\n",
      "docs/drop.md": "# Drop\n",
      "docs/keep.md": "# Keep\n",
      "lib/.codectxignore": "*.ts\n",
      "lib/hidden.ts": "export const hidden = 1;\n",
      "key.ts": `export const key = "-----BEGIN RSA ${PRIVATE} KEY-----\\nMIIEpAIBAAKCAQEA7bq8Yq0k\\n-----END RSA PRIVATE KEY-----";\n`,
    });
    sandbox.write("app/built/out.ts", "export const built = 1;\n");
    sandbox.write("app/untracked.ts", "export const untracked = 1;\n");
    const { json } = await sandbox.ask("app", LOCAL);
    expect(json).toMatchObject({ redactedCount: 1, skipped: { ignored: 2 } });
    const symbol = async (name: string) => (await sandbox.ask("app", ["symbol", name, "--json"])).code;
    expect(await symbol("untracked")).toBe(0);
    expect(await symbol("Keep")).toBe(0);
    for (const name of ["built", "hidden", "Drop"]) expect(await symbol(name)).toBe(4);
    expect(sandbox.service.embedded.join("")).not.toContain("MIIEpAIBAAKCAQEA7bq8Yq0k");
  });

  it("indexes a folder without git, and repositories without a remote", async () => {
    sandbox.write("plain/a.py", "def alpha():\n    return 1\n");
    sandbox.write("plain/skip/b.py", "def beta():\n    return 1\n");
    sandbox.write("plain/.gitignore", "skip/\n");
    sandbox.write("plain/drop.py", "def gamma():\n    return 1\n");
    sandbox.write("plain/.codectxignore", "drop.py\n");
    // .gitignore is a text like others.
    expect((await sandbox.ask("plain", LOCAL)).json).toMatchObject({ fileCount: 2, repo: null });
    sandbox.repository("lonely", { "a.go": "package a\n\nfunc Alpha() {}\n" });
    sandbox.git("lonely", "remote", "remove", "origin");
    expect((await sandbox.ask("lonely", LOCAL)).json).toMatchObject({ fileCount: 1, repo: null });
    expect((await sandbox.ask("lonely", ["publish", "--json"])).json).toMatchObject({ code: "NO_REMOTE" });
    const pulled = await sandbox.ask("plain", ["pull"]);
    expect([pulled.code, pulled.stderr]).toEqual([2, expect.stringContaining("plain is not in a git work tree: ")]);
    expect(pulled.stderr).toContain("--repo host/owner/name");
  });

  it("needs no key and sends nothing with --no-embed; vectors can be added later", async () => {
    sandbox.repository("app", sampleFiles(2));
    const first = await sandbox.ask("app", [...LOCAL, "--no-embed"], { env: { CODECTX_API_KEY: undefined } });
    expect(first.json).toMatchObject({ ok: true, fileCount: 2, embeddedCount: 0, fingerprint: null });
    expect(sandbox.service.requests).toEqual([]);
    const second = await sandbox.ask("app", LOCAL);
    expect(second.json).toMatchObject({ parsedFiles: 0, fingerprint: "fp-1" });
    expect(second.json["embeddedCount"]).toBe(first.json["chunkCount"]);
  });

  it("fills its batches", async () => {
    sandbox.repository("app", sampleFiles(300));
    const { json } = await sandbox.ask("app", LOCAL);
    const { batches } = sandbox.service;
    expect(batches.reduce((sum, size) => sum + size, 0)).toBe(json["embeddedCount"]);
    expect(batches.filter((size) => size < 128)).toHaveLength(1);
  });

  it("embeds everything again when the embedding space changes, and keeps the old vectors", async () => {
    sandbox.repository("app", sampleFiles(3));
    const first = await sandbox.ask("app", LOCAL);
    sandbox.service.fingerprint = "fp-2";
    sandbox.write("app/new.ts", "export const fresh = 1;\n");
    const second = await sandbox.ask("app", LOCAL);
    expect(second.json).toMatchObject({ fingerprint: "fp-2", embeddedCount: Number(first.json["chunkCount"]) + 1 });
    expect(second.stderr).toContain("embedding space changed");
    sandbox.service.fingerprint = "fp-1";
    sandbox.write("app/newer.ts", "export const fresher = 1;\n");
    expect((await sandbox.ask("app", LOCAL)).json).toMatchObject({ fingerprint: "fp-1", embeddedCount: 2 });
  });
});

/** Files for two batches more than are in flight at a time. */
const SIX_BATCHES = 6 * 128;

describe("interruption", () => {
  const paidOnce = () => expect(new Set(sandbox.service.embedded).size).toBe(sandbox.service.embedded.length);

  it("keeps what was paid for when the service fails half-way, and goes on from there", async () => {
    sandbox.repository("app", sampleFiles(300));
    sandbox.service.faults.embedFails = { after: 2, status: 429, code: "QUOTA_EXCEEDED" };
    const failed = await sandbox.ask("app", LOCAL);
    expect(failed).toMatchObject({ code: 5, json: { ok: false, code: "QUOTA_EXCEEDED", requestId: "req-test" } });
    expect(sandbox.service.embedded).toHaveLength(256);
    // What needs no vectors works meanwhile.
    expect((await sandbox.ask("app", ["symbol", "double7", "--json"])).code).toBe(0);
    sandbox.service.faults = {};
    const { json } = await sandbox.ask("app", LOCAL);
    expect(json).toMatchObject({
      parsedFiles: 0,
      fingerprint: "fp-1",
      embeddedCount: Number(json["chunkCount"]) - 256,
    });
    paidOnce();
  });

  it("waits for answers in flight on Ctrl-C and pays for nothing twice", async () => {
    sandbox.repository("app", sampleFiles(SIX_BATCHES));
    sandbox.service.faults.embedDelayMs = 150;
    const interrupted = await sandbox.run("app", LOCAL, {
      onStart: (child) => afterBatches(1, () => child.kill("SIGINT")),
    });
    expect(interrupted).toMatchObject({ code: 130, json: { ok: false, code: "ABORTED" } });
    expect(sandbox.service.embedded.length).toBeLessThan(SIX_BATCHES);
    sandbox.service.faults = {};
    expect(await sandbox.ask("app", LOCAL)).toMatchObject({ code: 0, json: { fingerprint: "fp-1" } });
    paidOnce();
  });

  it("survives being killed", async () => {
    sandbox.repository("app", sampleFiles(SIX_BATCHES));
    sandbox.service.faults.embedDelayMs = 50;
    // Four requests are in flight at a time: the fifth is sent when the answer to one of them is stored.
    const killed = await sandbox.run("app", LOCAL, {
      onStart: (child) => afterBatches(5, () => child.kill("SIGKILL")),
    });
    expect(killed.code).toBeNull();
    const answered = sandbox.service.embedded.length;
    sandbox.service.faults = {};
    const { json, code } = await sandbox.ask("app", LOCAL);
    expect(code).toBe(0);
    // At most the answers that had not reached the disk are asked for again.
    expect(sandbox.service.embedded.length - new Set(sandbox.service.embedded).size).toBeLessThanOrEqual(4 * 128);
    expect(Number(json["embeddedCount"])).toBeLessThan(Number(json["chunkCount"]));
    expect(answered).toBeGreaterThan(0);
    expect(integrity()).toEqual(["ok"]);
  });

  it("lets two processes work on one index, one after the other", async () => {
    sandbox.repository("app", sampleFiles(200));
    const both = await Promise.all([
      sandbox.run("app", LOCAL),
      sandbox.run("app", LOCAL),
      sandbox.run("app", ["symbol", "x", "--json"]),
    ]);
    expect(both.slice(0, 2).map(({ code }) => code)).toEqual([0, 0]);
    expect(both.slice(0, 2).map(({ json }) => json["fileCount"])).toEqual([200, 200]);
    expect(both[2].code).toBe(4);
    paidOnce();
    expect(integrity()).toEqual(["ok"]);
  });

  function afterBatches(count: number, act: () => void): void {
    const timer = setInterval(() => {
      if (sandbox.service.batches.length < count) return;
      clearInterval(timer);
      act();
    }, 5);
  }
});
