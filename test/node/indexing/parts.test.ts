import { createHash } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { ApiError } from "../../../src/lib/errors.ts";
import { StalePlanError } from "../../../src/service/indexing/context.ts";
import { UpstreamError } from "../../../src/engines/embedding/index.ts";
import { GitError } from "../../../src/engines/git/index.ts";
import { contentId, planKey } from "../../../src/service/indexing/ids.ts";
import {
  beginAttempt,
  claimStep,
  endRun,
  handOver,
  isReady,
  LEASE_MS,
  newRun,
  recordFailure,
  recordPlan,
  recordProgress,
  toStatus,
} from "../../../src/service/runs/state.ts";
import type { RunSpec } from "../../../src/service/db/run-spec.ts";
import { seal, unseal } from "../../../src/lib/seal.ts";
import { sseStream } from "../../../src/service/runs/sse.ts";
import {
  DamagedObjectError,
  encodeEmbedShard,
  getShard,
  limitBucket,
  putShard,
  ShardBuffer,
  StagingError,
} from "../../../src/service/indexing/staging.ts";
import { GlobError } from "../../../src/lib/globs.ts";
import { classifyFailure } from "../../../src/service/indexing/steps.ts";
import { MemoryBucket } from "../../support/pipeline.ts";

const SECRET = "k".repeat(44);

const sha256Hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

describe("shards", () => {
  it("come back as they were staged", async () => {
    const blob = fc
      .record({
        languages: fc.array(fc.constantFrom("typescript" as const, "text" as const), { maxLength: 2 }),
        bytes: fc.uint8Array({ maxLength: 300 }),
      })
      .map(({ languages, bytes }) => ({ sha256: sha256Hex(bytes), languages, bytes }));
    const buffer = new ShardBuffer();
    const bucket = new MemoryBucket();
    const stored = async (shard: Uint8Array) => {
      await putShard(bucket, "key", shard);
      return getShard(bucket, "key");
    };
    await fc.assert(
      fc.asyncProperty(fc.array(blob, { maxLength: 20 }), async (blobs) => {
        for (const { sha256, languages, bytes } of blobs) buffer.add(sha256, languages, bytes);
        expect(buffer.count).toBe(blobs.length);
        expect(await stored(buffer.take())).toEqual({ kind: "parse", blobs });
        expect(buffer.bytes).toBe(0);
      }),
    );
    expect(await stored(encodeEmbedShard(["a", "b"]))).toEqual({ kind: "embed", contentIds: ["a", "b"] });
    expect(await getShard(bucket, "gone")).toBeUndefined();
  });

  it("are refused after bits of them were flipped, and in the form of an earlier version", async () => {
    const bucket = new MemoryBucket();
    const buffer = new ShardBuffer();
    for (const text of ["const one = 1;\n", "", "export {};\n".repeat(20)]) {
      const bytes = new TextEncoder().encode(text);
      buffer.add(sha256Hex(bytes), ["typescript"], bytes);
    }
    for (const shard of [buffer.take().slice(), encodeEmbedShard(["a", "b"])]) {
      await putShard(bucket, "key", shard);
      const whole = await getShard(bucket, "key");
      const stored = bucket.objects.get("key")!.bytes.slice();
      const flips = [
        ...Array.from(shard.keys(), (byte) => deflateRawSync(flipped(shard, byte * 8 + (byte % 8)))),
        // Not all of a compressed object's bits matter; what does must not change the shard.
        ...Array.from({ length: stored.byteLength * 8 }, (_, bit) => flipped(stored, bit)),
        ...Array.from(stored.keys(), (length) => stored.slice(0, length)),
      ];
      for (const bytes of flips) {
        await bucket.put("key", bytes);
        const read = await getShard(bucket, "key").catch((error: unknown) => error);
        if (!(read instanceof DamagedObjectError)) expect(read).toEqual(whole);
      }
    }
    const earlier = new TextEncoder().encode('{"kind":"embed","contentIds":["a"]}');
    await bucket.put("key", deflateRawSync(Buffer.concat([earlier, Buffer.of(earlier.byteLength, 0, 0, 0)])));
    await expect(getShard(bucket, "key")).rejects.toThrow(DamagedObjectError);
    await bucket.put("key", deflateRawSync(new Uint8Array(64 * 1024 * 1024)));
    await expect(getShard(bucket, "key")).rejects.toThrow(DamagedObjectError);
  });
});

describe("sealed credentials", () => {
  it("open with the right key and purpose only, and never look alike", async () => {
    const sealed = await seal(SECRET, "run-1", "token");
    expect(sealed).not.toContain(Buffer.from("token").toString("base64"));
    expect(await seal(SECRET, "run-1", "token")).not.toBe(sealed);
    expect(await unseal(SECRET, "run-1", sealed)).toBe("token");
    await expect(unseal(SECRET, "run-2", sealed)).rejects.toThrow();
    await expect(unseal("x".repeat(44), "run-1", sealed)).rejects.toThrow();
    await expect(seal("short", "run-1", "token")).rejects.toThrow(/ENCRYPTION_KEY/);
  });
});

describe("ids", () => {
  it("name a content by tenant, bytes and language", () => {
    const id = contentId("t", "s", "go");
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(contentId("t", "s", "go")).toBe(id);
    expect(new Set([id, contentId("u", "s", "go"), contentId("t", "r", "go"), contentId("t", "s", "c")]).size).toBe(4);
  });

  it("name a plan by its options, whatever their order", () => {
    const base = { maxFileSizeBytes: 10 };
    expect(planKey({ ...base, include: ["a", "b"] })).toBe(planKey({ ...base, include: ["b", "a"] }));
    expect(planKey(base)).not.toBe(planKey({ ...base, include: [] }));
    expect(planKey(base)).not.toBe(planKey({ maxFileSizeBytes: 11 }));
  });
});

const spec: RunSpec = {
  runId: "r",
  tenantId: "t",
  workspaceId: "w",
  kind: "index",
  source: { url: "https://example.com/r", auth: { sealed: "sealed-text" } },
  options: { maxFileSizeBytes: 1 },
  actor: "a",
};

describe("a run's record", () => {
  it("starts its shards anew with every attempt", () => {
    const first = { ...beginAttempt(newRun(spec), 0), shards: 3, shardsDone: 2 };
    const second = beginAttempt(first, 1_000);
    expect(second).toMatchObject({ attempt: 2, shards: null, shardsDone: 0, state: "running" });
    expect(isReady(first)).toBe(false);
    expect(isReady({ ...first, shardsDone: 3 })).toBe(true);
    expect(isReady(second)).toBe(false);
  });

  it("loses the sealed credential when it ends, and shows none of it on the wire", () => {
    const run = beginAttempt(newRun(spec), 0);
    expect(JSON.stringify(toStatus(run))).not.toContain("sealed-text");
    expect(JSON.stringify(endRun(run, 1, { error: { code: "INTERNAL", error: "x" } }))).not.toContain("sealed-text");
    expect(JSON.stringify(endRun(run, 1, "cancelled"))).not.toContain("sealed-text");
    expect(endRun(run, 1, { result: { ok: true } })).toMatchObject({ state: "succeeded", recorded: true, endedAt: 1 });
  });

  it("counts failures in a row of one kind", () => {
    const away = { code: "STORAGE_UNAVAILABLE", error: "away" };
    const twice = recordFailure(recordFailure(newRun(spec), away), away);
    expect(twice).toMatchObject({ failures: { code: "STORAGE_UNAVAILABLE", count: 2 }, lastError: away });
    expect(recordFailure(twice, { code: "CLONE_FAILED", error: "no" }).failures.count).toBe(1);
    expect(recordPlan(twice, { shards: 1, filesTotal: 1 }, 0).failures.count).toBe(0);
  });
});

describe("claiming a step", () => {
  it("gives the plan and the finish to one worker at a time, and shards to as many as there are", () => {
    const run = beginAttempt(newRun(spec), 0);
    const planning = claimStep(run, "pulling", 0)!;
    expect(planning).toMatchObject({ phase: "pulling", held: "pulling" });
    expect(claimStep(planning, "pulling", 1)).toBeNull();
    const planned = recordPlan(planning, { shards: 2, filesTotal: 2 }, 0);
    expect(claimStep(planned, "pulling", 10_000_000)).toBeNull();
    expect(claimStep(claimStep(planned, "indexing", 0)!, "indexing", 0)).toMatchObject({ phase: "indexing" });
    const finishing = claimStep(handOver(planned, "finishing", 0), "finishing", 0)!;
    expect(claimStep(finishing, "finishing", LEASE_MS - 1)).toBeNull();
    expect(claimStep(finishing, "finishing", LEASE_MS)).not.toBeNull();
  });

  it("renews the lease of the step that holds the run, and of no other", () => {
    const planning = claimStep(beginAttempt(newRun(spec), 0), "pulling", 0)!;
    expect(recordProgress(planning, "pulling", {}, 5_000).leaseUntil).toBe(5_000 + LEASE_MS);
    const waiting = handOver(planning, "building", 1_000);
    // A late report of the step before neither shortens nor prolongs the wait for the next one.
    expect(recordProgress(waiting, "pulling", { filesDone: 3 }, 5_000)).toMatchObject({
      filesDone: 3,
      leaseUntil: waiting.leaseUntil,
    });
    expect(recordProgress(waiting, "indexing", {}, 5_000).leaseUntil).toBe(waiting.leaseUntil);
  });
});

describe("judging a failure", () => {
  it("retries what may pass, a bounded number of times", () => {
    const network = new GitError("NETWORK", "connection reset");
    expect(classifyFailure(new GlobError("options.exclude", "the globs take too long"), "plan")).toMatchObject({
      action: "fail",
      error: { code: "INVALID_BODY", details: { issues: [{ path: "options.exclude" }] } },
    });
    expect(classifyFailure(network, "plan")).toMatchObject({
      action: "restart",
      limit: 3,
      error: { code: "CLONE_FAILED" },
    });
    expect(classifyFailure(new GitError("TIMEOUT", "no answer"), "plan")).toMatchObject({ limit: 2 });
    const away = Object.assign(new Error("fetch failed"), { name: "NeonDbError" });
    expect(classifyFailure(away, "shard")).toMatchObject({ action: "retry", error: { code: "STORAGE_UNAVAILABLE" } });
    // One second, doubled up to thirty: a database may be away for minutes.
    expect(classifyFailure(away, "finish").limit).toBeGreaterThanOrEqual(8);
    const full = new StagingError("the object store failed to store an object; try again later");
    expect(classifyFailure(full, "plan")).toMatchObject({ action: "restart", error: { code: "STORAGE_UNAVAILABLE" } });
    expect(classifyFailure(new Error("no progress"), "finish")).toMatchObject({ action: "retry" });
  });

  it("plans again what was planned on other grounds", () => {
    expect(classifyFailure(new StalePlanError("model"), "finish")).toMatchObject({ action: "restart" });
    const gone = Object.assign(new Error("violates"), { name: "NeonDbError", code: "23503" });
    expect(classifyFailure(gone, "finish")).toMatchObject({ action: "restart" });
    expect(classifyFailure(new DamagedObjectError("no"), "shard")).toMatchObject({ action: "restart", limit: 4 });
  });

  it("gives up at once on what cannot pass, and says what git said", () => {
    const denied = new GitError("AUTH", "authentication failed", { stderr: "remote: no" });
    expect(classifyFailure(denied, "plan")).toEqual({
      action: "fail",
      limit: 1,
      error: {
        code: "CLONE_FAILED",
        error: "git: authentication failed",
        details: { gitStderr: "remote: no", reason: "AUTH" },
      },
    });
    const upstream = new UpstreamError("UPSTREAM_ERROR", { retryable: false });
    expect(classifyFailure(upstream, "shard")).toMatchObject({ action: "fail", error: { code: "EMBED_FAILED" } });
    const none = new ApiError("EMBED_UNAVAILABLE", "none");
    expect(classifyFailure(none, "plan")).toMatchObject({ action: "fail", error: { code: "EMBED_FAILED" } });
    expect(classifyFailure(new RangeError("boom"), "plan")).toMatchObject({ error: { code: "INTERNAL" } });
  });

  it("never tells the texts of errors it does not know", () => {
    expect(JSON.stringify(classifyFailure(new Error("secret internals"), "finish"))).not.toContain("secret internals");
  });
});

describe("staging with a time limit", () => {
  const hangs = () => new Promise<never>(() => {});

  it("turns what hangs and what fails into an error of its own, and leaves the rest alone", async () => {
    const bucket = new MemoryBucket();
    let done = 0;
    const limited = limitBucket(bucket, () => done++, 20);
    await limited.put("a", new Uint8Array([1]));
    expect(new Uint8Array((await (await limited.get("a"))?.arrayBuffer()) ?? [])).toEqual(new Uint8Array([1]));
    expect(await limited.get("b")).toBeNull();
    expect(done).toBe(4);
    const hanging = limitBucket(
      { ...limited, put: hangs, get: async () => ({ size: 0, arrayBuffer: hangs }) },
      undefined,
      20,
    );
    await expect(hanging.put("a", new Uint8Array())).rejects.toThrow(StagingError);
    const object = await hanging.get("a");
    await expect(object?.arrayBuffer()).rejects.toThrow(StagingError);
    const full = limitBucket({ ...limited, put: async () => Promise.reject(new Error("disk full")) }, undefined, 20);
    await expect(full.put("a", new Uint8Array())).rejects.toThrow(StagingError);
  });
});

describe("the event stream", () => {
  const status = (filesDone: number, state: "running" | "succeeded" = "running") =>
    ({ ok: true, runId: "r", state, progress: { filesDone, filesTotal: 9, phase: "indexing" } }) as const;

  it("sends the first status at once, the last before it closes, and unsubscribes", async () => {
    let push: (s: ReturnType<typeof status>) => void = () => {};
    let stopped = 0;
    const stream = sseStream(status(0), (own) => {
      push = own;
      return () => stopped++;
    });
    for (let n = 1; n < 50; n++) push(status(n));
    push(status(9, "succeeded"));
    const text = await new Response(stream).text();
    const states = [...text.matchAll(/^data: (.*)$/gm)].map(
      ([, json]) => JSON.parse(json ?? "") as ReturnType<typeof status>,
    );
    expect(states[0]).toEqual(status(0));
    expect(states.at(-1)).toEqual(status(9, "succeeded"));
    expect(states.length).toBeLessThan(10);
    expect(stopped).toBe(1);
  });

  it("sends a status once, however often it is reported", async () => {
    vi.useFakeTimers();
    try {
      let push: (s: ReturnType<typeof status>) => void = () => {};
      const stream = sseStream(status(0), (own) => {
        push = own;
        return () => {};
      });
      for (const n of [0, 1, 1, 2, 1]) {
        push(status(n));
        vi.advanceTimersByTime(1_000);
      }
      push(status(1, "succeeded"));
      const text = await new Response(stream).text();
      expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id)).toEqual(["1", "2", "3", "4", "5"]);
      const done = [...text.matchAll(/"filesDone":(\d+)/g)].map(([, n]) => n);
      expect(done).toEqual(["0", "1", "2", "1", "1"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("unsubscribes when the reader leaves", async () => {
    let stopped = 0;
    const stream = sseStream(status(0), () => () => stopped++);
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    expect(stopped).toBe(1);
  });
});
