/** Caches of earlier commits (see test/upgrades/make-cli.ts): the CLI goes on with them, and nothing is paid for again. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addRowCheck } from "../../../src/cli/indexing/row-check.ts";
import { PARSER_VERSION } from "../../../src/engines/parsing/version.ts";
import { IndexStore } from "../../../src/cli/indexing/store.ts";
import { stateName } from "../../../src/cli/local-index/state-name.ts";
import type { ExpectedCache } from "../../upgrades/make-cli.ts";
import { Sandbox } from "./support/run.ts";

const FOLDER = fileURLToPath(new URL("../../upgrades/cli", import.meta.url));

describe.each(readdirSync(FOLDER).map((name) => name.replace(".tar.br", "")))("a cache of %s", (commit) => {
  let sandbox: Sandbox;
  let expected: ExpectedCache;

  beforeEach(async () => {
    sandbox = await Sandbox.create();
    const tar = brotliDecompressSync(readFileSync(path.join(FOLDER, `${commit}.tar.br`)));
    execFileSync("tar", ["-x", "--no-same-owner", "-C", sandbox.root], { input: tar });
    expected = JSON.parse(readFileSync(sandbox.path("expected.json"), "utf8")) as ExpectedCache;
    const { service } = sandbox;
    for (const [repo, stored] of expected.snapshots) if (stored) service.snapshots.set(repo, stored);
    for (const [name, bytes] of expected.objects) service.objects.set(name, Buffer.from(bytes, "base64"));
    for (const cache of ["cache", "pulled"]) moveRoot(cache);
  });
  afterEach(() => sandbox.remove());

  const repoFolder = (cache: string): string => {
    const repos = sandbox.path(cache, "codectx/repos");
    return path.join(repos, readdirSync(repos)[0] ?? "");
  };

  /** The cache names the work tree by its address, which is another one now. */
  function moveRoot(cache: string): void {
    const root = sandbox.path("app");
    const db = new DatabaseSync(path.join(repoFolder(cache), "index.sqlite"));
    addRowCheck(db);
    expect(db.prepare("update worktrees set root = ? where root = ?").run(root, expected.root).changes).toBe(1);
    db.close();
    const state = (of: string): string => path.join(repoFolder(cache), "search", `${stateName(of)}.state`);
    if (existsSync(state(expected.root))) renameSync(state(expected.root), state(root));
  }

  const json = async (cache: string, ...args: string[]): Promise<Record<string, unknown>> => {
    const env = { XDG_CACHE_HOME: sandbox.path(cache) };
    const ran = await sandbox.run("app", [...args, "--json"], { env });
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    return ran.json;
  };

  it("tells how far its upgrade is, if its files have to be packed", () => {
    const db = new DatabaseSync(path.join(repoFolder("cache"), "index.sqlite"));
    const query =
      "select (select user_version from pragma_user_version) as version, count(*) as files from contents where skip is null";
    const { version, files } = db.prepare(query).get() as { version: number; files: number };
    db.close();
    const calls: [done: number, total: number][] = [];
    IndexStore.open(repoFolder("cache"), PARSER_VERSION, (...call) => calls.push(call)).close();
    expect(calls).toEqual(version >= 6 ? [] : Array.from({ length: files }, (_, i) => [i + 1, files]));
  });

  it("answers rightly, and keeps its vectors", async () => {
    expect(await json("cache", "search", "addedLater")).toMatchObject({ results: [{ path: "src/added.ts" }] });
    expect(await json("cache", "symbol", "double1")).toMatchObject({
      symbols: [{ path: "src/module1.ts", startLine: 2 }],
    });
    // The commit was indexed while one of its blobs was replaced.
    const ofCommit = await json("cache", "symbol", "addedLater", "--ref", "HEAD");
    expect(ofCommit).toMatchObject({ gitSha: expected.gitSha, symbols: [{ path: "src/added.ts" }] });
    expect((await sandbox.run("app", ["symbol", "replaced", "--ref", "HEAD"])).code).toBe(4);
    expect(await json("cache", "index", "--local")).toMatchObject({ embeddedCount: 0, fingerprint: "fp-1" });
    expect(await json("cache", "publish")).toMatchObject({ published: true, fileCount: 4, embeddedCount: 0 });
    expect(sandbox.service.embedded).toEqual([]);
  });

  it("knows what it has pulled, and pays for nothing of it again", async () => {
    const pulled = await json("pulled", "pull");
    expect(pulled).toMatchObject({ downloaded: false, workTree: { fileCount: 4, fingerprint: "fp-1" } });
    expect(sandbox.service.bytesServed).toBe(0);
    // Only the file that was committed after the pull.
    expect(sandbox.service.embedded.filter((text) => !text.includes("addedLater"))).toEqual([]);
    expect(await json("pulled", "symbol", "double2")).toMatchObject({ symbols: [{ path: "src/module2.ts" }] });
    expect(await json("pulled", "status")).toMatchObject({
      local: { indexed: true, snapshot: { fingerprint: "fp-1" } },
    });
  });
});
