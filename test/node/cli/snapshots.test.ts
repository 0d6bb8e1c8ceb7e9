import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSnapshot } from "../../../src/engines/snapshot/reader.ts";
import { collect, memoryBytes } from "../snapshot/fixture.ts";
import { sampleFiles, Sandbox } from "./support/run.ts";

let sandbox: Sandbox;
/** Another machine: its own cache. */
const OTHER = () => ({ XDG_CACHE_HOME: sandbox.path("other-cache") });

/** `app` as it was committed, and as it was published; each test has a copy. */
let committed: Sandbox;
let published: Sandbox;

beforeAll(async () => {
  committed = await Sandbox.create();
  committed.repository("app", sampleFiles(20));
  published = await committed.copy();
  expect(await published.run("app", ["publish", "--json"])).toMatchObject({ code: 0, json: { published: true } });
});
afterAll(() => {
  committed.remove();
  published.remove();
});
afterEach(() => sandbox.remove());

function artifactSize(): number {
  return [...sandbox.service.objects.values()].at(-1)?.length ?? 0;
}

/** Files in the index folders beside the databases and the base layers. */
function leftovers(cache = "other-cache"): string[] {
  return cached(cache).filter(
    (file) => !/\.sqlite(-shm|-wal)?$|\/(?:repository\.txt|search|texts)$/.test(file) && !/\/base-[^/]*$/.test(file),
  );
}

/** Artifacts that serve as base layers. */
function bases(cache = "other-cache"): string[] {
  return cached(cache).filter((file) => /\/base-[0-9a-f]{64}\.parquet$/.test(file));
}

function cached(cache: string): string[] {
  const repos = sandbox.path(cache, "codectx/repos");
  if (!existsSync(repos)) return [];
  return readdirSync(repos).flatMap((name) => readdirSync(join(repos, name)).map((file) => join(repos, name, file)));
}

describe("publish", () => {
  beforeEach(async () => {
    sandbox = await committed.copy();
  });

  it("publishes the commit, not the work tree, and each commit once", async () => {
    sandbox.write("app/src/dirty.ts", "export const dirty = 1;\n");
    sandbox.write("app/src/module0.ts", "export const overwritten = 1;\n");
    const first = await sandbox.ask("app", ["publish", "--json"]);
    expect(first).toMatchObject({
      code: 0,
      json: { ok: true, published: true, fileCount: 20, repo: "github.com/acme/app" },
    });
    expect(first.stderr).toContain("2 uncommitted changes are not part of the snapshot");
    expect(sandbox.service.embedded.join("\n")).not.toContain("overwritten");
    const artifact = await openSnapshot(memoryBytes([...sandbox.service.objects.values()].at(-1)!));
    const uses = (await collect(artifact.files())).map(({ uses }) => `${uses[0]?.name} in ${uses[0]?.enclosing}`);
    expect(uses.toSorted()).toEqual(Array.from({ length: 20 }, (_, i) => `double${i} in Holder${i}.get`).toSorted());
    const again = await sandbox.ask("app", ["publish", "--json"]);
    expect(again.json).toMatchObject({ published: false });
    const forced = await sandbox.ask("app", ["publish", "--force", "--json"]);
    expect(forced.json).toMatchObject({ published: true, embeddedCount: 0, checksum: first.json["checksum"] });
    expect(leftovers("cache")).toEqual([]);
  });

  it("does not replace a newer commit's snapshot by an older one's without --force", async () => {
    const old = sandbox.git("app", "rev-parse", "HEAD");
    sandbox.write("app/src/next.ts", "export const next = 1;\n");
    const next = sandbox.commit("app");
    await sandbox.ask("app", ["publish", "--json"]);
    const refused = await sandbox.ask("app", ["publish", "--commit", old]);
    expect(refused).toMatchObject({ code: 8, stdout: "" });
    expect(refused.stderr).toContain(`older than the published commit ${next.slice(0, 10)}; --force`);
    const forced = await sandbox.ask("app", ["publish", "--commit", old, "--force", "--json"]);
    expect(forced.json).toMatchObject({ published: true, gitSha: old });
  });

  it("repeats a broken upload, with a new URL where the old one has expired", async () => {
    sandbox.service.faults = { breakUploadsAfter: { bytes: 100, times: 2 } };
    expect(await sandbox.ask("app", ["publish", "--json"])).toMatchObject({ code: 0, json: { published: true } });
    sandbox.service.faults = { expiredUrls: 1 };
    expect(await sandbox.ask("app", ["publish", "--force", "--json"])).toMatchObject({ code: 0 });
    expect(sandbox.service.requests.filter((request) => request === "POST /index-snapshot")).toHaveLength(2 + 3);
    sandbox.service.faults = { expiredUrls: 99 };
    const expired = await sandbox.ask("app", ["publish", "--force", "--json"]);
    expect([expired.code, expired.json["code"]]).toEqual([6, "URL_EXPIRED"]);
    expect(leftovers("cache")).toEqual([]);
  });
});

describe("pull", () => {
  beforeEach(async () => {
    sandbox = await published.copy();
    sandbox.clone("app", "clone");
  });

  it("takes everything over without paying, indexes only what differs, and knows what it has", async () => {
    const paid = sandbox.service.embedded.length;
    sandbox.write("clone/src/extra.ts", "export const extra = 1;\n");
    const pulled = await sandbox.run("clone", ["pull", "--json"], { env: OTHER() });
    expect(pulled).toMatchObject({
      code: 0,
      json: {
        downloaded: true,
        sizeBytes: artifactSize(),
        workTree: { fileCount: 21, parsedFiles: 1, embeddedCount: 1, fingerprint: "fp-1" },
      },
    });
    expect(sandbox.service.embedded.length).toBe(paid + 1);
    const symbol = await sandbox.ask("clone", ["symbol", "double7", "--json"], { env: OTHER() });
    expect(symbol.json).toMatchObject({
      symbols: [{ path: "src/module7.ts", kind: "function", startLine: 2, qualifiedName: "double7" }],
    });
    const served = sandbox.service.bytesServed;
    const again = await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() });
    expect(again.json["downloaded"]).toBe(false);
    expect(sandbox.service.bytesServed).toBe(served);
    expect(leftovers()).toEqual([]);
  });

  it("takes a broken download up where it stopped, within a run and in the next", async () => {
    const size = artifactSize();
    sandbox.service.faults = { breakDownloadsAfter: { bytes: Math.floor(size / 5), times: 3 } };
    expect(await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() })).toMatchObject({
      code: 0,
      json: { downloaded: true },
    });
    expect(sandbox.service.bytesServed).toBe(size);

    sandbox.service.bytesServed = 0;
    sandbox.service.faults = { breakDownloadsAfter: { bytes: Math.floor(size / 2), times: 1 }, expiredUrls: 0 };
    const stopped = await sandbox.run("clone", ["pull", "--force", "--json"], {
      env: OTHER(),
      onStart: (child) => {
        const timer = setInterval(() => {
          if (sandbox.service.bytesServed === 0) return;
          clearInterval(timer);
          sandbox.service.faults.expiredUrls = 1_000;
          // The next attempt begins when everything received so far is on disk.
          sandbox.service.faults.onExpired = () => child.kill("SIGTERM");
        }, 5);
      },
    });
    expect(stopped.code).toBe(130);
    expect(leftovers()).toHaveLength(1);
    sandbox.service.faults = {};
    expect(await sandbox.ask("clone", ["pull", "--force", "--json"], { env: OTHER() })).toMatchObject({ code: 0 });
    expect(sandbox.service.bytesServed).toBe(size);
  });

  it("asks for a new URL when the old one has expired", async () => {
    sandbox.service.faults = { expiredUrls: 2 };
    expect(await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() })).toMatchObject({
      code: 0,
      json: { downloaded: true },
    });
  });

  it("refuses a tampered artifact and leaves the old index as it was", async () => {
    await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() });
    sandbox.service.faults = { tamper: true };
    const refused = await sandbox.ask("clone", ["pull", "--force", "--json"], { env: OTHER() });
    expect(refused).toMatchObject({ code: 7, json: { ok: false, code: "CHECKSUM_MISMATCH" } });
    expect(leftovers()).toEqual([]);
    expect((await sandbox.ask("clone", ["symbol", "double7", "--json"], { env: OTHER() })).code).toBe(0);
  });

  it("refuses an artifact that is damaged in itself, whatever its checksum says", async () => {
    const { createHash } = await import("node:crypto");
    const stored = sandbox.service.snapshots.get("github.com/acme/app")!;
    const bytes = Buffer.from(sandbox.service.objects.get(stored.storagePath)!);
    // The end of the file list, which lies before the footer.
    const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
    bytes.fill(0, footer - 20, footer - 10);
    sandbox.service.objects.set(stored.storagePath, bytes);
    const checksum = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    sandbox.service.snapshots.set("github.com/acme/app", { ...stored, manifest: { ...stored.manifest, checksum } });
    const refused = await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() });
    expect(refused).toMatchObject({ code: 7, json: { code: "BAD_SNAPSHOT" } });
    expect((await sandbox.ask("clone", ["status", "--json"], { env: OTHER() })).json).toMatchObject({
      local: { indexed: false },
    });
  });

  it("keeps the artifact as a base layer that gives the same index, and the same artifact, when all of it is needed", async () => {
    const { checksum } = sandbox.service.snapshots.get("github.com/acme/app")!.manifest;
    await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() });
    expect(bases().map((file) => file.slice(-72))).toEqual([`${checksum.replace("sha256:", "")}.parquet`.slice(-72)]);
    const paid = sandbox.service.embedded.length;
    expect((await sandbox.ask("clone", ["index", "--local", "--json"], { env: OTHER() })).json).toMatchObject({
      parsedFiles: 0,
      fingerprint: "fp-1",
    });
    expect(bases()).toHaveLength(1);
    const again = await sandbox.ask("clone", ["publish", "--force", "--json"], { env: OTHER() });
    expect(again.json).toMatchObject({ published: true, checksum, embeddedCount: 0 });
    expect(sandbox.service.embedded.length).toBe(paid);
    expect(bases()).toEqual([]);
  });

  it("pays for nothing that a base layer holds", async () => {
    await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() });
    const paid = sandbox.service.embedded.length;
    // The same chunks, as another content.
    sandbox.write("clone/src/again.ts", `${readFileSync(sandbox.path("clone/src/module3.ts"), "utf8")}\n\n`);
    const indexed = await sandbox.ask("clone", ["index", "--local", "--json"], { env: OTHER() });
    expect(indexed.json).toMatchObject({ fileCount: 21, parsedFiles: 1, embeddedCount: 0, fingerprint: "fp-1" });
    expect(sandbox.service.embedded.length).toBe(paid);
  });

  it("embeds everything again when the embedding space changes, base layer or not", async () => {
    await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() });
    sandbox.service.fingerprint = "fp-2";
    sandbox.write("clone/src/extra.ts", "export const extra = 1;\n");
    const indexed = await sandbox.ask("clone", ["index", "--local", "--json"], { env: OTHER() });
    const { chunkCount } = indexed.json;
    expect(indexed.json).toMatchObject({ embeddedCount: chunkCount, fingerprint: "fp-2" });
    expect(bases()).toEqual([]);
  });

  it("replaces the base layer by that of the next pull", async () => {
    await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() });
    const [first] = bases();
    sandbox.write("app/src/module0.ts", "export const rewritten = 1;\n");
    sandbox.commit("app");
    await sandbox.ask("app", ["publish", "--json"]);
    sandbox.git("clone", "pull", "-q", sandbox.path("app"));
    expect((await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() })).json).toMatchObject({ downloaded: true });
    expect(bases()).toHaveLength(1);
    expect(bases()).not.toEqual([first]);
    expect((await sandbox.ask("clone", ["symbol", "double0", "--json"], { env: OTHER() })).code).toBe(4);
    expect((await sandbox.ask("clone", ["symbol", "double1", "--json"], { env: OTHER() })).code).toBe(0);
  });

  it.each([
    ["damaged", (file: string) => writeFileSync(file, Buffer.from(readFileSync(file)).fill(0, 300, 310))],
    ["gone", (file: string) => rmSync(file)],
  ])("goes on without a base layer that is %s, and the next pull brings one back", async (_, spoil) => {
    await sandbox.run("clone", ["pull", "--json"], { env: OTHER() });
    spoil(bases()[0]!);
    const published = await sandbox.run("clone", ["publish", "--force", "--json"], { env: OTHER() });
    expect(published).toMatchObject({ code: 0, json: { published: true, fileCount: 20 } });
    expect(published.stderr.match(/was damaged and is rebuilt/g)).toHaveLength(1);
    expect(bases()).toEqual([]);
    expect((await sandbox.run("clone", ["pull", "--force", "--json"], { env: OTHER() })).json).toMatchObject({
      downloaded: true,
      workTree: { fileCount: 20, parsedFiles: 0 },
    });
    expect((await sandbox.run("clone", ["symbol", "double7", "--json"], { env: OTHER() })).code).toBe(0);
  });

  it("indexes a file that differs from the snapshot, whatever git's index says of it", async () => {
    sandbox.write("clone/.gitattributes", "src/module3.ts text eol=crlf\n");
    rmSync(sandbox.path("clone/src/module3.ts"));
    sandbox.git("clone", "checkout", "--", "src/module3.ts");
    const edit = (name: string) => {
      const text = readFileSync(sandbox.path("clone/src", name), "utf8");
      sandbox.write(`clone/src/${name}`, text.replace("double", "triple"));
    };
    edit("module4.ts");
    // Changes of the same length that git was told not to look at.
    sandbox.git("clone", "update-index", "--assume-unchanged", "src/module5.ts");
    edit("module5.ts");
    sandbox.git("clone", "update-index", "--skip-worktree", "src/module6.ts");
    edit("module6.ts");
    edit("module7.ts");
    sandbox.git("clone", "add", "src/module7.ts");
    const pulled = await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() });
    expect(pulled.json).toMatchObject({ workTree: { fileCount: 21, parsedFiles: 6 } });
    for (const number of [4, 5, 6, 7]) {
      const found = await sandbox.ask("clone", ["symbol", `triple${number}`, "--json"], { env: OTHER() });
      expect(found.json).toMatchObject({ symbols: [{ path: `src/module${number}.ts` }] });
    }
  });

  it("answers from the base layer and the tables as one", async () => {
    sandbox.write("clone/src/aaa.ts", "export function double77() {}\nexport function tripled() {}\n");
    sandbox.write("clone/src/copy.ts", readFileSync(sandbox.path("clone/src/module7.ts"), "utf8"));
    await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() });
    const paths = async (...args: string[]) => {
      const { json } = await sandbox.ask("clone", ["symbol", ...args, "--json"], { env: OTHER() });
      return (json["symbols"] as { path: string }[]).map(({ path }) => path);
    };
    expect(await paths("double7")).toEqual(["src/copy.ts", "src/module7.ts"]);
    expect(await paths("DOUBLE7")).toEqual(["src/copy.ts", "src/module7.ts"]);
    const wrongKind = await sandbox.ask("clone", ["symbol", "double7", "--kind", "class", "--json"], { env: OTHER() });
    expect(wrongKind.code).toBe(4);
    const prefix = await paths("doub", "--limit", "50");
    expect(prefix).toContain("src/aaa.ts");
    expect(prefix).toHaveLength(22);
    const missing = await sandbox.ask("clone", ["symbol", "ouble1", "--json"], { env: OTHER() });
    expect(missing).toMatchObject({ code: 4, json: { details: { near: expect.arrayContaining(["double1"]) } } });
    const outline = await sandbox.ask("clone", ["outline", "src/module7.ts", "--json"], { env: OTHER() });
    const parsed = await sandbox.ask("clone", ["outline", "src/module7.ts", "--json"], {
      env: { XDG_CACHE_HOME: sandbox.path("no-cache") },
    });
    expect({ ...outline.json, digest: "" }).toEqual({ ...parsed.json, digest: "" });
    expect(outline.json["symbols"]).not.toEqual([]);
  });

  it.each([
    ["damaged", (file: string) => writeFileSync(file, Buffer.from(readFileSync(file)).fill(0, 100, 4_000))],
    ["gone", (file: string) => rmSync(file)],
  ])("rebuilds here where a look-up meets a base layer that is %s; a pull mends it, too", async (_, spoil) => {
    await sandbox.ask("clone", ["pull", "--json"], { env: OTHER() });
    spoil(bases()[0]!);
    const found = await sandbox.ask("clone", ["symbol", "double7", "--json"], { env: OTHER() });
    expect(found).toMatchObject({ code: 0, json: { symbols: [{ path: "src/module7.ts", startLine: 2 }] } });
    expect(found.stderr.trim().split("\n")).toEqual([expect.stringContaining("was damaged and is rebuilt")]);
    expect(await sandbox.ask("clone", ["symbol", "double7"], { env: OTHER() })).toMatchObject({ code: 0, stderr: "" });
    const env = { XDG_CACHE_HOME: sandbox.path("third-cache") };
    await sandbox.ask("clone", ["pull", "--json"], { env });
    spoil(bases("third-cache")[0]!);
    expect((await sandbox.ask("clone", ["pull", "--json"], { env })).json).toMatchObject({ downloaded: true });
    expect(await sandbox.ask("clone", ["symbol", "double7"], { env })).toMatchObject({ code: 0, stderr: "" });
  });

  it("says what is missing: no snapshot, no key, a revoked key", async () => {
    sandbox.repository("bare", sampleFiles(1));
    expect(await sandbox.ask("bare", ["pull", "--json"])).toMatchObject({ code: 4, json: { code: "NO_SNAPSHOT" } });
    const keyless = await sandbox.ask("clone", ["pull", "--json"], { env: { CODECTX_API_KEY: undefined } });
    expect(keyless).toMatchObject({ code: 3, json: { code: "NOT_LOGGED_IN" } });
    sandbox.service.key = "cc_live_other";
    const revoked = await sandbox.ask("clone", ["pull"], { env: { CODECTX_API_KEY: "cc_live_test" } });
    expect(revoked.code).toBe(3);
    expect(revoked.stderr.trim().split("\n")).toHaveLength(1);
    expect(revoked.stderr).toContain("revoked");
  });
});

describe("ci", () => {
  beforeEach(async () => {
    sandbox = await published.copy();
  });

  it("reuses the current snapshot on an empty runner, and never replaces a newer one", async () => {
    const paid = sandbox.service.embedded.length;
    const old = sandbox.git("app", "rev-parse", "HEAD");
    sandbox.write("app/src/next.ts", "export const next = 1;\n");
    sandbox.commit("app");
    sandbox.clone("app", "runner");
    const summary = sandbox.path("summary.md");
    const env = { ...OTHER(), GITHUB_STEP_SUMMARY: summary };
    expect((await sandbox.run("runner", ["ci", "--json"], { env })).json).toMatchObject({
      published: true,
      fileCount: 21,
      embeddedCount: 1,
    });
    expect(sandbox.service.embedded.length).toBe(paid + 1);
    expect(existsSync(summary)).toBe(true);
    expect((await sandbox.ask("runner", ["ci"], { env: OTHER() })).stdout).toMatch(/ is published already\n$/);
    sandbox.git("runner", "checkout", "-q", old);
    expect((await sandbox.ask("runner", ["ci", "--json"], { env: OTHER() })).json).toMatchObject({
      published: false,
      skipped: "newer",
    });
  });

  it.each([
    ["whose checksum is wrong", (bytes: Buffer) => bytes, "tampered"],
    ["that is no snapshot", () => Buffer.from("PAR1 no snapshot PAR1"), "as published"],
  ])("replaces a published snapshot %s", async (_, spoil, how) => {
    const { createHash } = await import("node:crypto");
    const stored = sandbox.service.snapshots.get("github.com/acme/app")!;
    const bytes = spoil(Buffer.from(sandbox.service.objects.get(stored.storagePath)!));
    sandbox.service.objects.set(stored.storagePath, bytes);
    const checksum = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    const manifest = { ...stored.manifest, checksum, sizeBytes: bytes.length };
    sandbox.service.snapshots.set("github.com/acme/app", { ...stored, manifest });
    if (how === "tampered") sandbox.service.faults = { tamper: true };
    const pulled = await sandbox.ask("app", ["pull", "--json"], { env: OTHER() });
    expect(pulled).toMatchObject({ code: 7, json: { ok: false } });
    const ran = await sandbox.ask("app", ["ci", "--json"], { env: { XDG_CACHE_HOME: sandbox.path("ci-cache") } });
    expect(ran).toMatchObject({ code: 0, json: { published: true, fileCount: 20 } });
    expect(ran.stderr).toContain("cannot be used and is replaced");
    sandbox.service.faults = {};
    expect((await sandbox.ask("app", ["pull", "--json"], { env: OTHER() })).code).toBe(0);
  });
});
