import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { runs, workspaces } from "../../../src/service/db/schema.ts";
import { filesOf } from "../../../src/service/revisions/files.ts";
import { dropRef, MAX_REFS } from "../../../src/service/revisions/refs.ts";
import { REVISIONS_KEPT, sweepIndex } from "../../../src/service/indexing/sweep.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import { file, search } from "../../support/ask-hosted.ts";
import { git, givenRepository, newPipeline, pipeline, repo } from "../../support/given-repository.ts";
import type { Pipeline, RunRequest } from "../../support/pipeline.ts";
import { revisionAt } from "../../support/revision-at.ts";

givenRepository();

const source = (name: string) => `export function ${name}() {\n  return "${name}";\n}\n`;
const index = (request: Omit<RunRequest, "url"> = {}) => pipeline.run({ url: git.url("repo"), ...request });
const beside = (ref: string) => index({ ref, options: { current: false } });
const currentSha = async () => (await revisionAt(pipeline.db, pipeline.workspaceId))?.gitSha;

/** Path → SHA-256 of a revision's files. */
async function filesAt(ref?: string, own: Pipeline = pipeline): Promise<Record<string, string> | undefined> {
  const revision = await revisionAt(own.db, own.workspaceId, ref);
  if (!revision) return undefined;
  const rows = await rowsOf<{ path: string; sha: string }>(
    own.db,
    sql`select f.path, encode(c.sha256, 'hex') as sha from ${filesOf(revision)} f join contents c on c.id = f.content_id order by f.path`,
  );
  return Object.fromEntries(rows.map(({ path, sha }) => [path, sha]));
}

/** What a workspace of its own says of a ref. */
async function fresh(ref: string): Promise<{ files: unknown; counts: unknown }> {
  const own = await newPipeline();
  await own.run({ url: git.url("repo"), ref });
  return { files: await filesAt(undefined, own), counts: await countsAt(undefined, own) };
}

async function countsAt(ref?: string, own: Pipeline = pipeline) {
  const revision = await revisionAt(own.db, own.workspaceId, ref);
  if (!revision) return undefined;
  const { gitSha, fileCount, symbolCount, chunkCount, stats } = revision;
  return { gitSha, fileCount, symbolCount, chunkCount, stats };
}

describe("revisions beside the current one", () => {
  it("equal those of a workspace of their own, and leave what readers see alone", async () => {
    repo.files({ "a.ts": source("a"), "b.ts": source("b"), "img.png": new Uint8Array(9), "bin.ts": "\0" });
    const main = repo.commit();
    await index();
    const before = await filesAt();
    repo.branch("feature").checkout("feature");
    repo.files({ "b.ts": source("changed"), "c/d.ts": source("d"), "logo.png": new Uint8Array(5) }).delete("a.ts");
    repo.delete("bin.ts").commit();
    const run = await beside("feature");
    expect(run.result).toMatchObject({ fileCount: 2, skippedUnchanged: 0, embeddedCount: 2 });
    expect(await filesAt()).toEqual(before);
    expect(await currentSha()).toBe(main);
    const alone = await fresh("feature");
    expect(await filesAt("feature")).toEqual(alone.files);
    expect(await countsAt("feature")).toEqual(alone.counts);
    expect(await filesAt("refs/heads/feature")).toEqual(alone.files);
    expect(await filesAt("main")).toEqual(before);
    expect(await filesAt(repo.head("feature"))).toEqual(alone.files);
    const { db, tenantId, workspaceId } = pipeline;
    const deps = { db, bucket: pipeline.searchBucket, cache: new SearchCache(), regexModule, repair: async () => {} };
    const found = await search(deps, tenantId, {
      query: "changed",
      workspaceId,
      ref: "feature",
      offset: 0,
      limit: 5,
      maxTokens: 2_000,
    });
    expect(found.indexes).toMatchObject([{ ref: "feature", gitSha: repo.head("feature") }]);
    expect(found.results[0]).toMatchObject({ path: "b.ts", excerpts: [{ text: expect.stringContaining("changed") }] });
    const deleted = file(deps, tenantId, { path: "a.ts", workspaceId, ref: "feature" });
    await expect(deleted).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await file(deps, tenantId, { path: "b.ts", workspaceId, ref: "feature" })).text).toBe(
      source("changed").trimEnd(),
    );
    expect((await file(deps, tenantId, { path: "b.ts", workspaceId })).text).toBe(source("b").trimEnd());
    // The same commit again pulls and writes nothing; main moves on, and the branch stays as it is.
    expect((await beside("feature")).result).toMatchObject({ skippedUnchanged: 2 });
    repo.checkout("main").write("a.ts", source("a2")).commit();
    await index();
    expect(await filesAt("feature")).toEqual(alone.files);
    // A push to the branch, against the main of now.
    repo.checkout("feature").write("e.ts", source("e")).commit();
    await beside("feature");
    expect(await filesAt("feature")).toEqual((await fresh("feature")).files);
    expect(await filesAt("no-such-branch")).toBeUndefined();
  });

  it("become current when a run asks for it, and work where nothing is indexed yet", async () => {
    repo.files({ "a.ts": source("a") }).commit();
    await beside("main");
    expect(await currentSha()).toBeUndefined();
    expect(Object.keys((await filesAt("main")) ?? {})).toEqual(["a.ts"]);
    await index();
    expect(await currentSha()).toBe(repo.head());
    repo.branch("next").checkout("next").write("b.ts", source("b")).commit();
    await beside("next");
    await index({ ref: "next" });
    expect(Object.keys((await filesAt()) ?? {})).toEqual(["a.ts", "b.ts"]);
  });

  it("serve a snapshot of an older commit", async () => {
    const old = repo.files({ "a.ts": source("a") }).commit();
    const newer = repo.write("a.ts", source("a2")).commit();
    await index();
    const run = await index({ ref: old, kind: "snapshot" });
    expect(run.result).toEqual({ handedOver: "build" });
    expect(await currentSha()).toBe(newer);
    const wanted = await filesAt(old);
    expect(wanted).toEqual((await fresh(old)).files);
  });

  it("cost their differences", async () => {
    for (let i = 0; i < 40; i++) repo.write(`src/f${i}.ts`, source(`f${i}`));
    repo.commit();
    await index();
    const rows = () =>
      rowsOf<{ n: number }>(
        pipeline.db,
        sql`select (select count(*) from revision_files where workspace_id = ${pipeline.workspaceId})::int
          + (select count(*) from revision_overlays where workspace_id = ${pipeline.workspaceId})::int as n`,
      ).then(([row]) => row?.n ?? 0);
    const before = await rows();
    for (let branch = 0; branch < 4; branch++) {
      repo.checkout("main").branch(`b${branch}`).checkout(`b${branch}`);
      repo
        .write(`src/f${branch}.ts`, source(`changed${branch}`))
        .delete("src/f39.ts")
        .commit();
      const run = await beside(`b${branch}`);
      expect(run.result).toMatchObject({ fileCount: 39, skippedUnchanged: 38, embeddedCount: 1 });
    }
    expect((await rows()) - before).toBe(4 * 2);
  });
});

describe("what the sweep keeps", () => {
  it("is the last revision of each ref, the current one, the newest ones, and what they are based on", async () => {
    repo.files({ "a.ts": source("v0"), "keep.ts": source("keep") }).commit();
    await index();
    repo.branch("old").checkout("old").write("b.ts", source("b")).commit();
    await beside("old");
    const branch = await filesAt("old");
    for (let version = 1; version <= REVISIONS_KEPT + 2; version++) {
      repo
        .checkout("main")
        .write("a.ts", source(`v${version}`))
        .commit();
      await index();
    }
    const { db, bucket, workspaceId } = pipeline;
    await sweepIndex(db, bucket, Date.now());
    expect(await filesAt("old")).toEqual(branch);
    expect(Object.keys((await filesAt()) ?? {})).toEqual(["a.ts", "keep.ts"]);
    const seqs = async () =>
      (
        await rowsOf<{ seq: number }>(
          db,
          sql`select seq from revisions where workspace_id = ${workspaceId} order by seq`,
        )
      ).map(({ seq }) => seq);
    // The branch (2) and its base (1) stay beside the newest five of nine.
    expect(await seqs()).toEqual([1, 2, 5, 6, 7, 8, 9]);
    expect(await dropRef(db, workspaceId, "old")).toBe(true);
    expect(await dropRef(db, workspaceId, "old")).toBe(false);
    await sweepIndex(db, bucket, Date.now());
    expect(await seqs()).toEqual([5, 6, 7, 8, 9]);
    const [left] = await rowsOf<{ n: number }>(
      db,
      sql`select count(*)::int as n from revision_overlays where workspace_id = ${workspaceId}`,
    );
    expect(left?.n).toBe(0);
    expect(await filesAt("old")).toBeUndefined();
  });

  it(`is ${MAX_REFS} refs of a workspace, the most recent ones`, async () => {
    repo.files({ "a.ts": source("a") }).commit();
    await index();
    await pipeline.db.execute(sql`insert into revision_refs (workspace_id, ref, seq, updated_at)
      select ${pipeline.workspaceId}, 'refs/heads/b' || n, 1, now() - make_interval(days => n) from generate_series(1, ${MAX_REFS}) n`);
    repo.write("a.ts", source("a2")).commit();
    await index();
    expect(await revisionAt(pipeline.db, pipeline.workspaceId, `b${MAX_REFS - 1}`)).toBeDefined();
    expect(await revisionAt(pipeline.db, pipeline.workspaceId, `b${MAX_REFS}`)).toBeUndefined();
  });
});

it("a run that was cancelled switches nothing", async () => {
  repo.files({ "a.ts": source("a") }).commit();
  await index();
  const before = await filesAt();
  repo.write("a.ts", source("a2")).commit();
  const run = await pipeline.run({ url: git.url("repo") }, async (message, once) => {
    await pipeline.db.update(runs).set({ state: "cancelled" }).where(eq(runs.id, message.runId));
    await once();
  });
  expect(run.state).toBe("cancelled");
  expect(await filesAt()).toEqual(before);
  const [workspace] = await pipeline.db.select().from(workspaces).where(eq(workspaces.id, pipeline.workspaceId));
  expect(workspace?.currentSeq).toBe(1);
});

describe("files whose names are unusual", () => {
  it("are indexed like any other, under git's quoted form where they are not plain text", async () => {
    repo.write("tab\there.ts", source("tab")).write('"quoted".ts', source("quoted"));
    repo.write(Buffer.from("caf\xe9.ts", "latin1"), source("latin"));
    repo.write(Buffer.from("caf\xe8.ts", "latin1"), source("other")).write("日本.ts", source("utf8")).commit();
    expect((await index()).result).toMatchObject({ fileCount: 5, symbolCount: 5, skipped: {} });
    expect(Object.keys((await filesAt()) ?? {}).toSorted()).toEqual(
      ['"\\"quoted\\".ts"', '"caf\\350.ts"', '"caf\\351.ts"', '"tab\\there.ts"', "日本.ts"].toSorted(),
    );
    repo.write(Buffer.from("caf\xe9.ts", "latin1"), source("latin2")).commit();
    expect((await index()).result).toMatchObject({ fileCount: 5, skippedUnchanged: 4 });
  });

  it("are scripts where the first line says so, and are counted where it does not", async () => {
    const script = (name: string) => `#!/usr/bin/env bash\n${name}() {\n  echo ${name}\n}\n`;
    repo.files({ "bin/deploy": script("deploy"), "bin/notes": "nothing to see\n", "x.sh": script("deploy") }).commit();
    expect((await index()).result).toMatchObject({ fileCount: 2, symbolCount: 2, skipped: { unknown_type: 1 } });
    repo.write("bin/notes", script("notes")).write("bin/more", "still nothing\n").commit();
    expect((await index()).result).toMatchObject({ fileCount: 3, symbolCount: 3, skipped: { unknown_type: 1 } });
    repo.write("bin/deploy", "gone\n").commit();
    const stepwise = (await index()).result;
    expect(stepwise).toMatchObject({ fileCount: 2, skipped: { unknown_type: 2 } });
    expect(await countsAt()).toEqual((await fresh("main")).counts);
  });

  it("have the language of their content where a C name may be C++", async () => {
    const languages = async () =>
      rowsOf<{ path: string; language: string; symbols: number }>(
        pipeline.db,
        sql`select f.path, c.language, c.symbol_count as symbols
          from ${filesOf((await revisionAt(pipeline.db, pipeline.workspaceId))!)} f
          join contents c on c.id = f.content_id order by f.path`,
      );
    const pool = "class Pool {\n public:\n  void drain();\n};\n";
    repo.files({ "notes.txt": pool, "plain.h": "int drain(void);\n" }).commit();
    await index();
    repo.write("pool.h", pool).write("pool.hpp", pool).write("pool", pool).commit();
    expect((await index()).result).toMatchObject({ fileCount: 4, skipped: { unknown_type: 1 } });
    const expected = [
      { path: "notes.txt", language: "text", symbols: 0 },
      { path: "plain.h", language: "c", symbols: 1 },
      { path: "pool.h", language: "cpp", symbols: 2 },
      { path: "pool.hpp", language: "cpp", symbols: 2 },
    ];
    expect(await languages()).toEqual(expected);
    repo.write("plain.h", "int fill(void);\n").commit();
    expect((await index()).result).toMatchObject({ fileCount: 4, skippedUnchanged: 3, embeddedCount: 1 });
    expect(await languages()).toEqual(expected);
  });

  it("adds up: every file of the commit is indexed or counted under a reason", async () => {
    repo.files({
      "a.ts": source("a"),
      "b.png": new Uint8Array(4),
      LICENSE2: "text\n",
      "node_modules/x/i.js": "x",
      "package-lock.json": "{}",
      "gen/out.ts": source("g"),
      "bin.ts": "\0\0",
      "big.ts": "x".repeat(5_000),
    });
    repo.symlink("link", "a.ts").submodule("sub").commit();
    const options = { exclude: ["gen"], maxFileSizeBytes: 4_000 };
    const { result } = await index({ options });
    const sum = Object.values(result?.["skipped"] as Record<string, number>).reduce((total, count) => total + count, 0);
    expect(sum + Number(result?.["fileCount"])).toBe(repo.list().length);
    repo.delete("b.png").write("c.gif", new Uint8Array(3)).write("a2.ts", source("a2")).commit();
    const second = (await index({ options })).result;
    const again = Object.values(second?.["skipped"] as Record<string, number>).reduce(
      (total, count) => total + count,
      0,
    );
    expect(again + Number(second?.["fileCount"])).toBe(repo.list().length);
    expect(second?.["skipped"]).toMatchObject({ symlink: 1, submodule: 1, excluded: 1, unknown_type: 2, too_large: 1 });
  });
});
