import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { createEmbedder } from "../../../src/engines/embedding/index.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { skipsKey, treesKey } from "../../../src/service/indexing/staging.ts";
import { shardKey } from "../../../src/service/runs/messages.ts";
import { claimVectors } from "../../../src/service/indexing/store.ts";
import { sweepIndex } from "../../../src/service/indexing/sweep.ts";
import { git, givenRepository, newPipeline, pipeline, repo } from "../../support/given-repository.ts";
import type { Pipeline } from "../../support/pipeline.ts";

givenRepository();

const url = () => git.url("repo");

/** The visible rows of a workspace: path → [content id, git oid]. */
async function visible(own: Pipeline = pipeline): Promise<Record<string, string>> {
  const rows = await rowsOf<{ path: string; row: string }>(
    own.db,
    sql`select f.path, f.content_id || ' ' || encode(f.git_oid, 'hex') || ' ' || f.mode as row from revision_files f
        join workspaces w on w.id = f.workspace_id where w.id = ${own.workspaceId}
        and f.from_seq <= w.current_seq and (f.to_seq is null or f.to_seq > w.current_seq) order by 1`,
  );
  return Object.fromEntries(rows.map((row) => [row.path, row.row]));
}

/** Everything of a tenant that content decides, in a form that two tenants can be compared by. */
async function dump(own: Pipeline): Promise<unknown> {
  const tenant = own.tenantId;
  return {
    files: await rowsOf(
      own.db,
      sql`select f.path, f.mode, encode(f.git_oid, 'hex') as oid, encode(c.sha256, 'hex') as sha, c.language, c.symbol_count, c.chunk_count, c.outcome
          from revision_files f join workspaces w on w.id = f.workspace_id join contents c on c.id = f.content_id
          where w.tenant_id = ${tenant} and f.from_seq <= w.current_seq and (f.to_seq is null or f.to_seq > w.current_seq) order by f.path collate "C"`,
    ),
    chunks: await rowsOf(
      own.db,
      sql`select encode(c.sha256, 'hex') as sha, c.language, k.ordinal, encode(k.hash, 'hex') as hash, k.text, k.context from chunks k join contents c on c.id = k.content_id
          where c.tenant_id = ${tenant} order by 1, 2, 3`,
    ),
    symbols: await rowsOf(
      own.db,
      sql`select encode(c.sha256, 'hex') as sha, c.language, s.ordinal, s.qualified_name, s.kind from symbols s join contents c on c.id = s.content_id
          where c.tenant_id = ${tenant} order by 1, 2, 3`,
    ),
    vectors: await rowsOf(
      own.db,
      sql`select encode(chunk_hash, 'hex') as hash, md5(vector) as vector from vectors where tenant_id = ${tenant} order by 1`,
    ),
    totals: await rowsOf(
      own.db,
      sql`select r.git_sha, r.file_count, r.symbol_count, r.chunk_count, r.stats from revisions r join workspaces w on w.id = r.workspace_id and w.current_seq = r.seq
          where w.tenant_id = ${tenant}`,
    ),
  };
}

const source = (name: string) => `export function ${name}(a: number): number {\n  return a + 1;\n}\n`;

describe("an index run", () => {
  it("indexes once, skips everything the second time, and keeps up with every kind of change", async () => {
    repo
      .files({ "a.ts": source("first"), "lib/b.py": "def second():\n    return 2\n", "README.md": "# Title\n\ntext\n" })
      .commit();
    const cold = await pipeline.run({ url: url() });
    expect(cold.result).toMatchObject({
      ok: true,
      fileCount: 3,
      skippedUnchanged: 0,
      gitSha: repo.head(),
      region: "test",
    });
    expect(cold.result?.["symbolCount"]).toBeGreaterThanOrEqual(3);
    expect(cold.result?.["embeddedCount"]).toBe(cold.result?.["chunkCount"]);

    const again = await pipeline.run({ url: url() });
    expect(again.result).toMatchObject({ fileCount: 3, skippedUnchanged: 3, embeddedCount: 0 });
    expect(pipeline.messages).toHaveLength(1);

    repo.rename("a.ts", "src/renamed.ts").delete("lib/b.py").write("c.go", "package c\n\nfunc Third() {}\n").commit();
    const changed = await pipeline.run({ url: url() });
    expect(changed.result).toMatchObject({ fileCount: 3, skippedUnchanged: 2, embeddedCount: 1 });
    expect(Object.keys(await visible())).toEqual(["README.md", "c.go", "src/renamed.ts"]);
  });

  it("counts a revision reached by steps as one indexed from nothing", async () => {
    repo
      .files({
        "a.ts": source("one"),
        "b.ts": source("two"),
        "bin.dat": "text",
        "c.ts": "\0binary",
        "package-lock.json": "{}",
      })
      .commit();
    await pipeline.run({ url: url() });
    repo
      .write("a.ts", source("oneB"))
      .delete("b.ts")
      .write("c.ts", source("three"))
      .write("d.ts", "\0binary too")
      .commit();
    await pipeline.run({ url: url() });
    repo.write("b.ts", source("two")).write("e.sh", "echo 1\n").commit();
    const stepped = await pipeline.run({ url: url() });

    const fresh = await newPipeline();
    const direct = await fresh.run({ url: url() });
    const { runId: _a, embeddedCount: _b, skippedUnchanged: _c, embedMs: _d, ...left } = stepped.result ?? {};
    const { runId: _e, embeddedCount: _f, skippedUnchanged: _g, embedMs: _h, ...right } = direct.result ?? {};
    expect(left).toEqual(right);
    expect(left["skipped"]).toEqual({ binary: 1, lockfile: 1, unknown_type: 1 });
  });

  it("embeds nothing again for a rename, a copy, a branch switch or a second workspace", async () => {
    repo.files({ "a.ts": source("first"), "b.ts": source("second") }).commit();
    repo.git("checkout", "-q", "-b", "other");
    repo.rename("a.ts", "z.ts").write("copy.ts", source("second")).commit();
    repo.checkout("main");
    await pipeline.run({ url: url() });
    const other = await pipeline.run({ url: url(), ref: "other" });
    expect(other.result).toMatchObject({ fileCount: 3, embeddedCount: 0, skippedUnchanged: 3 });
    const back = await pipeline.run({ url: url(), ref: "main" });
    expect(back.result).toMatchObject({ fileCount: 2, embeddedCount: 0, skippedUnchanged: 2 });
  });

  it("leaves out symlinks, submodules, LFS pointers, binary, oversize and vendored files, and says so", async () => {
    repo
      .files({
        "ok.ts": source("ok"),
        "empty.py": "",
        "crlf.js": "function a() {\r\n  return 1;\r\n}\r\n",
        "naïve/ünï.rb": "def hello\n  1\nend\n",
        "broken.ts": "export function ( {{{ nope",
        "big.ts": "// x\n".repeat(120_000),
        "node_modules/x/index.js": "module.exports = 1\n",
        "image.svg.ts": "\0\0",
      })
      .lfs("model.json")
      .symlink("link.ts", "ok.ts")
      .submodule("sub");
    repo.git("commit", "-q", "-m", "all");
    const run = await pipeline.run({ url: url() });
    expect(run.result?.["skipped"]).toEqual({ symlink: 1, submodule: 1, lfs: 1, binary: 1, too_large: 1, vendored: 1 });
    expect(Object.keys(await visible())).toEqual(["broken.ts", "crlf.js", "empty.py", "naïve/ünï.rb", "ok.ts"].sort());
    expect(run.result).toMatchObject({ fileCount: 5 });
    const again = await pipeline.run({ url: url() });
    expect(again.result?.["skipped"]).toEqual(run.result?.["skipped"]);
  });

  it("takes include, exclude and the size limit, and follows when they change", async () => {
    repo
      .files({ "a.ts": source("a"), "b.py": "def b(): pass\n", "src/c.ts": source("c"), "notes.txt": "hello\n" })
      .commit();
    await pipeline.run({ url: url() });
    await pipeline.run({ url: url(), options: { include: ["*.ts"] } });
    expect(Object.keys(await visible())).toEqual(["a.ts", "src/c.ts"]);
    const less = await pipeline.run({ url: url(), options: { include: ["**/*.ts"], exclude: ["src"] } });
    expect(Object.keys(await visible())).toEqual(["a.ts"]);
    expect(less.result).toMatchObject({ fileCount: 1, embeddedCount: 0, skippedUnchanged: 1 });
    const small = await pipeline.run({ url: url(), options: { maxFileSizeBytes: 15 } });
    expect(Object.keys(await visible())).toEqual(["b.py", "notes.txt"]);
    expect(small.result?.["skipped"]).toEqual({ too_large: 2 });
  });

  it("embeds the stored contents again when the model changes, without pulling them", async () => {
    repo.files({ "a.ts": source("a"), "b.ts": source("b") }).commit();
    await pipeline.run({ url: url() });
    const embedder = createEmbedder(
      { provider: "builtin", model: "lexical", dimension: 64, timeoutMs: 60_000 },
      { fetch },
    )!;
    const before = git.requests.length;
    const run = await pipeline.run({ url: url(), embedder });
    expect(run.result).toMatchObject({ fileCount: 2, embeddedCount: 2, skippedUnchanged: 2 });
    expect(git.requests.slice(before).reduce((sum, request) => sum + request.sentBytes, 0)).toBeLessThan(4_000);
    const [{ n } = { n: 0 }] = await rowsOf<{ n: number }>(
      pipeline.db,
      sql`select count(*)::int as n from vectors where tenant_id = ${pipeline.tenantId} and fingerprint = ${embedder.fingerprint}`,
    );
    expect(n).toBe(2);
  });

  it("withholds likely secrets everywhere", async () => {
    const secret = ["AKIA", "Q7TJ2MZ4LW9XK3VB"].join("");
    repo.files({ "config.py": `KEY = "${secret}"\n`, "ok.py": "x = 1\n" }).commit();
    const run = await pipeline.run({ url: url() });
    expect(run.result).toMatchObject({ redactedCount: 1, fileCount: 2 });
    expect(JSON.stringify(await dump(pipeline))).not.toContain(secret);
  });

  it("fails with CLONE_FAILED and git's words, and keeps what was indexed", async () => {
    repo.write("a.ts", source("a")).commit();
    await pipeline.run({ url: url() });
    const before = await visible();
    const missing = await pipeline.run({ url: url(), ref: "no-such-branch" });
    expect(missing.error).toMatchObject({
      code: "CLONE_FAILED",
      details: { gitStderr: expect.stringContaining("no-such-branch") },
    });
    git.options.requireToken = "right";
    const denied = await pipeline.run({ url: url(), token: "wrong-token-value" });
    expect(denied.error?.code).toBe("CLONE_FAILED");
    expect(JSON.stringify(denied)).not.toContain(Buffer.from("wrong-token-value").toString("base64"));
    expect(JSON.stringify(denied.error)).not.toContain("wrong-token-value");
    expect(await visible()).toEqual(before);
    const allowed = await pipeline.run({ url: url(), token: "right" });
    expect(allowed.state).toBe("succeeded");
  });
});

describe("interruptions", () => {
  /** Enough bytes for several shards, and few rows: blanks weigh nothing when a file is cut into chunks. */
  const fill = () => {
    const files: Record<string, string> = {};
    for (let i = 0; i < 24; i++) {
      const lines = Array.from({ length: 240 }, (_, line) => `// ${" ".repeat(240)}${i}.${line}`);
      files[`src/f${i}.ts`] = `${source(`fn${i}`)}${lines.join("\n")}\n`;
    }
    return files;
  };

  it("ends with the rows of an undisturbed run, wherever it is killed and however often a message comes", async () => {
    repo.files(fill()).commit();
    const undisturbed = await newPipeline();
    await undisturbed.run({ url: url() });
    const steps = undisturbed.messages.length;
    expect(steps).toBeGreaterThanOrEqual(4);
    for (let victim = 0; victim < steps; victim++) {
      const own = await newPipeline();
      let seen = 0;
      await own.run({ url: url() }, async (_message, once) => {
        // Everything before the victim is delivered twice; from the victim on, the world has ended.
        if (seen++ >= victim) return;
        await once();
        await once();
      });
      await own.run({ url: url() });
      expect(await dump(own), `killed before message ${victim}`).toEqual(await dump(undisturbed));
    }
  }, 240_000);

  it("plans again when staged data is damaged, and indexes none of it", async () => {
    repo.files(fill()).commit();
    const undisturbed = await newPipeline();
    await undisturbed.run({ url: url() });
    const put = pipeline.bucket.put.bind(pipeline.bucket);
    const damaged: string[] = [];
    pipeline.bucket.put = (key, value) => {
      if (!/\/(1\/shard-1|2\/changes-0)$/.test(key)) return put(key, value);
      damaged.push(key);
      const at = Math.floor(value.byteLength / 2);
      return put(
        key,
        value.map((byte, i) => (i === at ? byte ^ 4 : byte)),
      );
    };
    expect(await pipeline.run({ url: url() })).toMatchObject({ state: "succeeded", attempt: 3 });
    expect(damaged).toHaveLength(2);
    expect(await dump(pipeline)).toEqual(await dump(undisturbed));
    // Nothing that any of the three attempts has staged stays.
    expect([...pipeline.bucket.objects.keys()].filter((key) => key.startsWith("runs/"))).toEqual([]);
  });

  it("shows readers the old revision until the switch", async () => {
    repo.files({ "a.ts": source("old"), "b.ts": source("same") }).commit();
    await pipeline.run({ url: url() });
    const before = await visible();
    repo.files({ "a.ts": source("new"), "c.ts": source("more") }).commit();
    await pipeline.run({ url: url() }, async (message, once) => {
      expect(await visible()).toEqual(before);
      await once();
      if (message.kind !== "finish") return;
      expect(Object.keys(await visible())).toEqual(["a.ts", "b.ts", "c.ts"]);
      await once();
    });
    expect(Object.keys(await visible())).toEqual(["a.ts", "b.ts", "c.ts"]);
  });

  it("undoes the rows of a run that died in its finish", async () => {
    repo.files({ "a.ts": source("old"), "b.ts": source("same") }).commit();
    await pipeline.run({ url: url() });
    const before = await visible();
    // What a finish leaves that died between its writes and its switch.
    await pipeline.db.execute(
      sql`update revision_files set to_seq = 2 where workspace_id = ${pipeline.workspaceId} and path = 'b.ts'`,
    );
    await pipeline.db.execute(sql`insert into revision_files (workspace_id, path, from_seq, content_id, git_oid, mode)
      select workspace_id, 'ghost.ts', 2, content_id, git_oid, mode from revision_files where workspace_id = ${pipeline.workspaceId} and path = 'a.ts'`);
    expect(await visible()).toEqual(before);
    repo.write("c.ts", source("c")).commit();
    await pipeline.run({ url: url() });
    expect(Object.keys(await visible())).toEqual(["a.ts", "b.ts", "c.ts"]);
  });
});

describe("the sweep", () => {
  /** Makes all that is stored three days old. */
  const age = async () => {
    const { db, tenantId, bucket } = pipeline;
    await db.execute(sql`update contents set created_at = now() - interval '3 days' where tenant_id = ${tenantId}`);
    await db.execute(sql`update vectors set used_on = current_date - 3 where tenant_id = ${tenantId}`);
    for (const object of bucket.objects.values()) object.uploaded = new Date(Date.now() - 3 * 86_400_000);
  };
  const vectorCount = async () => {
    const [row] = await rowsOf<{ n: number }>(
      pipeline.db,
      sql`select count(*)::int as n from vectors where tenant_id = ${pipeline.tenantId}`,
    );
    return row?.n;
  };

  it("removes contents and vectors that no kept revision refers to, and nothing else", async () => {
    repo.files({ "a.ts": source("v0"), "keep.ts": source("keep") }).commit();
    await pipeline.run({ url: url() });
    for (let version = 1; version <= 6; version++) {
      repo.write("a.ts", source(`v${version}`)).commit();
      await pipeline.run({ url: url() });
    }
    const before = await visible();
    await age();
    const report = await sweepIndex(pipeline.db, pipeline.bucket, Date.now());
    expect(report.contents).toBe(2);
    expect(report.vectors).toBe(2);
    expect(await visible()).toEqual(before);
    const again = await pipeline.run({ url: url() });
    expect(again.result).toMatchObject({ skippedUnchanged: 2, embeddedCount: 0 });
    expect(await vectorCount()).toBe(6);
  });

  it("leaves a vector alone that a run has counted on today, though its chunk is not there yet", async () => {
    repo.write("a.ts", source("first")).commit();
    await pipeline.run({ url: url() });
    const [row] = await rowsOf<{ hash: string; fingerprint: string }>(
      pipeline.db,
      sql`select encode(chunk_hash, 'hex') as hash, fingerprint from vectors where tenant_id = ${pipeline.tenantId}`,
    );
    if (!row) throw new Error("nothing was embedded");
    await pipeline.db.execute(sql`delete from chunks where encode(hash, 'hex') = ${row.hash}`);
    await age();
    const claim = () => claimVectors(pipeline.db, pipeline.tenantId, row.fingerprint, [row.hash, "00".repeat(32)]);
    expect([await claim(), await claim()]).toEqual([new Set([row.hash]), new Set([row.hash])]);
    expect(await sweepIndex(pipeline.db, pipeline.bucket, Date.now())).toMatchObject({ vectors: 0 });
    await age();
    expect(await sweepIndex(pipeline.db, pipeline.bucket, Date.now())).toMatchObject({ vectors: 1 });
    expect(await claim()).toEqual(new Set());
  });

  it("keeps finished runs and audit events for as long as the team says", async () => {
    const { db, bucket, tenantId, workspaceId } = pipeline;
    await db.execute(sql`insert into runs (id, tenant_id, workspace_id, kind, state, request, created_at, finished_at)
      select gen_random_uuid(), ${tenantId}, ${workspaceId}, 'index', 'failed', '{}', now() - age, now() - age
      from unnest(array[interval '20 days', '40 days', '100 days']) as age`);
    await db.execute(sql`insert into audit_events (id, tenant_id, at, event, actor, dedupe_key, details)
      select gen_random_uuid(), ${tenantId}, now() - age, 'RATE_LIMITED', 'system', age::text, '{}'
      from unnest(array[interval '20 days', '40 days', '400 days']) as age`);
    const sweep = () => sweepIndex(db, bucket, Date.now());
    expect(await sweep()).toMatchObject({ runs: 1, auditEvents: 1 });
    await db.execute(sql`update tenants set run_days = 30, audit_days = 30 where id = ${tenantId}`);
    expect(await sweep()).toMatchObject({ runs: 1, auditEvents: 1 });
    expect(await sweep()).toMatchObject({ runs: 0, auditEvents: 0 });
  });

  it("removes what runs have staged, except the trees that the next run starts from", async () => {
    repo.write("a.ts", source("first")).commit();
    const { spec } = await pipeline.run({ url: url() });
    const kept = [...pipeline.bucket.objects.keys()].toSorted();
    expect(kept).toEqual([treesKey(pipeline.workspaceId, spec.runId), skipsKey(pipeline.workspaceId, spec.runId)]);
    const failed = crypto.randomUUID();
    const left = [
      shardKey(failed, 1, 0),
      treesKey(pipeline.workspaceId, failed),
      skipsKey(pipeline.workspaceId, failed),
    ];
    for (const key of left) await pipeline.bucket.put(key, new Uint8Array(1));
    expect(await sweepIndex(pipeline.db, pipeline.bucket, Date.now())).toMatchObject({ objects: 0 });
    await age();
    expect(await sweepIndex(pipeline.db, pipeline.bucket, Date.now())).toMatchObject({ objects: left.length });
    expect([...pipeline.bucket.objects.keys()].toSorted()).toEqual(kept);
  });
});
