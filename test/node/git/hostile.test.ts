import { createHash, randomBytes } from "node:crypto";
import { deflateSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { GitError, type GitErrorCode } from "../../../src/engines/git/index.ts";
import { hashObject, OBJ_BLOB, OBJ_COMMIT, OBJ_TREE } from "../../../src/engines/git/object.ts";
import { pkt } from "../../../src/engines/git/wire/pkt-line.ts";
import { type Answer, fakeFetch, quick, URL, V2 } from "./fake.ts";
import { open, pullAll } from "./harness.ts";

/** Wraps pack bytes in the sections and side-band of a v2 answer. */
function packAnswer(pack: Uint8Array): Buffer<ArrayBuffer> {
  const parts: Buffer[] = [Buffer.from(pkt("packfile\n"))];
  for (let at = 0; at < pack.length; at += 1000) {
    const data = pack.subarray(at, at + 1000);
    parts.push(Buffer.from((data.length + 5).toString(16).padStart(4, "0")), Buffer.from([1]), Buffer.from(data));
  }
  return Buffer.concat([...parts, Buffer.from("0000")]);
}

type PackEntry = { type: number; data: Uint8Array; size?: number; base?: Buffer };

function makePack(entries: readonly PackEntry[], count = entries.length): Buffer {
  const head = Buffer.from("PACK\0\0\0\u0002\0\0\0\0", "latin1");
  head.writeUInt32BE(count, 8);
  const parts: Buffer[] = [head];
  for (const { type, data, size = data.length, base } of entries) {
    const bytes = [(type << 4) | (size & 15)];
    for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
      bytes[bytes.length - 1]! |= 128;
      bytes.push(rest & 127);
    }
    parts.push(Buffer.from(bytes), base ?? Buffer.alloc(0), deflateSync(data));
  }
  const body = Buffer.concat(parts);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

const blob = Buffer.from("hello\n");
const tree = Buffer.concat([Buffer.from("100644 f\0"), Buffer.from(hashObject("sha1", OBJ_BLOB, blob), "hex")]);
const commitOf = (raw: Uint8Array): Buffer =>
  Buffer.from(`tree ${hashObject("sha1", OBJ_TREE, raw)}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n`);
const commit = commitOf(tree);
const commitId = hashObject("sha1", OBJ_COMMIT, commit);
const good: PackEntry[] = [
  { type: 1, data: commit },
  { type: 2, data: tree },
  { type: 3, data: blob },
];

const pullFrom = async (post: (body: string, n: number) => Answer | Promise<Answer>, id = commitId, limits = {}) => {
  const session = await open(URL, { fetch: fakeFetch(V2, post), limits: { ...quick, ...limits } });
  return pullAll(session, undefined, { commit: id });
};

afterEach(() => {
  vi.useRealTimers();
});

describe("hand-made servers", () => {
  test("a good pack is taken, also with ref deltas before their base and chains of them", async () => {
    expect((await pullFrom(() => ({ body: packAnswer(makePack(good)) }))).blobs.size).toBe(1);
    const base = Buffer.from("0123456789".repeat(30));
    const next = Buffer.concat([base, Buffer.from("!")]);
    const last = Buffer.concat([next, Buffer.from("?")]);
    const id = (data: Buffer): Buffer => Buffer.from(hashObject("sha1", OBJ_BLOB, data), "hex");
    // Copy the whole base, insert one byte.
    const grow = (from: Buffer, char: string): Buffer => {
      const size = (n: number): number[] => [(n & 127) | 128, n >> 7];
      const n = from.length;
      return Buffer.from([...size(n), ...size(n + 1), 0xb0, n & 255, n >> 8, 1, char.charCodeAt(0)]);
    };
    const entry = (name: string, data: Buffer): Buffer => Buffer.concat([Buffer.from(`100644 ${name}\0`), id(data)]);
    const root = Buffer.concat([entry("a", base), entry("b", next), entry("c", last)]);
    const top = commitOf(root);
    const pack = makePack([
      { type: 7, base: id(next), data: grow(next, "?") },
      { type: 1, data: top },
      { type: 7, base: id(base), data: grow(base, "!") },
      { type: 2, data: root },
      { type: 3, data: base },
    ]);
    const pulled = await pullFrom(() => ({ body: packAnswer(pack) }), hashObject("sha1", OBJ_COMMIT, top));
    expect([...pulled.blobs.values()].map((data) => data.length).sort((a, b) => a - b)).toEqual([300, 301, 302]);
  });

  const damaged: [string, Buffer, GitErrorCode, object?][] = [
    ["another magic", Buffer.from("JUNKJUNKJUNKJUNKJUNKJUNKJUNKJUNKJUNK"), "CORRUPT"],
    ["an unknown version", Buffer.from("PACK\0\0\0\u0009\0\0\0\0".padEnd(40, "x")), "CORRUPT"],
    ["a wrong checksum", Buffer.concat([makePack(good).subarray(0, -1), Buffer.from([0])]), "CORRUPT"],
    ["a huge object count", makePack(good, 0xffffffff), "LIMIT"],
    ["a wrong size", makePack([{ type: 1, data: commit, size: commit.length + 1 }, ...good]), "CORRUPT"],
    ["a size too small", makePack([{ type: 1, data: commit, size: commit.length - 1 }, ...good]), "CORRUPT"],
    ["a huge tree", makePack([{ type: 2, data: tree, size: 2 ** 30 }, ...good]), "LIMIT"],
    ["a huge commit", makePack([{ type: 1, data: commit, size: 2 ** 30 }, ...good]), "LIMIT"],
    ["an unknown type", makePack([{ type: 5, data: blob }, ...good]), "CORRUPT"],
    [
      "a delta offset before the pack",
      makePack([{ type: 6, base: Buffer.from([127]), data: blob }, ...good]),
      "CORRUPT",
    ],
    ["too many files", makePack(good), "LIMIT", { files: 0 }],
    ["too many bytes", makePack(good), "LIMIT", { totalBytes: 100 }],
    ["too many tree bytes", makePack(good), "LIMIT", { treesTotalBytes: 10 }],
    ["trees that never come", makePack([good[0]!, good[2]!]), "PROTOCOL"],
    ["blobs that never come", makePack([good[0]!, good[1]!]), "PROTOCOL"],
  ];
  test.each(damaged)("a pack with %s", async (name, pack, code, limits) => {
    const answers = name === "blobs that never come" ? makePack([{ type: 3, data: Buffer.from("other") }]) : pack;
    // Without a filter nothing may be missing.
    const plain: Answer = { body: `${pkt("version 2\n")}${pkt("fetch=shallow\n")}0000` };
    const fetch = fakeFetch(plain, (_body, n) => ({ body: packAnswer(n === 0 ? pack : answers) }));
    const session = await open(URL, { fetch, limits: { ...quick, ...limits } });
    const error: unknown = await pullAll(session, undefined, { commit: commitId }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(GitError);
    expect((error as GitError).code).toBe(code);
  });

  test.each<[string, Answer, GitErrorCode, RegExp]>([
    ["an ERR packet", { body: pkt("ERR upload-pack: boom\n") }, "PROTOCOL", /boom/],
    ["an ERR about a ref", { body: pkt("ERR upload-pack: not our ref abc\n") }, "REF_NOT_FOUND", /not our ref/],
    [
      "a fatal side-band",
      { body: `${pkt("packfile\n")}${pkt("\u0003fatal: disk on fire")}0000` },
      "PROTOCOL",
      /disk on fire/,
    ],
    [
      "progress, then silence",
      { body: `${pkt("packfile\n")}${pkt("\u0002remote: out of memory\n")}0000` },
      "NETWORK",
      /out of memory/,
    ],
    ["nothing", { body: "" }, "PROTOCOL", /empty response body/],
    ["no packet lines", { body: "<html>login</html>" }, "PROTOCOL", /pkt-line/],
    ["another content type", { body: "hi", type: "text/html" }, "PROTOCOL", /text\/html/],
    // An address may lead to a server whose error pages are not meant for the tenant.
    [
      "another content type with text in it",
      { body: "hi", type: "text/html; internal=10.0.0.7" },
      "PROTOCOL",
      /text\/html\)$/,
    ],
    ["a made-up content type", { body: "hi", type: "<b>10.0.0.7" }, "PROTOCOL", /content type unknown\)$/],
    ["500", { status: 500, type: "text/plain", body: "db-7.internal is down" }, "NETWORK", /^HTTP 500$/],
    ["403", { status: 403, type: "text/plain", body: "SSO required" }, "AUTH", /^HTTP 403$/],
    ["403 in HTML", { status: 403, type: "text/html", body: "<b>SSO</b>" }, "AUTH", /^HTTP 403$/],
    ["404", { status: 404, type: "text/plain", body: "gone fishing" }, "NOT_FOUND", /^HTTP 404$/],
    ["429", { status: 429, type: "text/plain", body: "slow down" }, "NETWORK", /^HTTP 429$/],
    [
      "a redirected POST",
      { status: 302, headers: { location: "https://other.example.com/" } },
      "PROTOCOL",
      /redirects a POST/,
    ],
  ])("%s", async (_name, answer, code, stderr) => {
    const error: unknown = await pullFrom(() => answer).catch((e: unknown) => e);
    expect(error).toMatchObject({ code });
    expect((error as GitError).stderr).toMatch(stderr);
    expect((error as GitError).message).not.toMatch(/SSO|fishing|slow|internal|10\.0/);
  });

  test("advertisements that are not", async () => {
    const bodies = [
      "",
      "hello",
      "0005",
      `${pkt("# service=git-upload-pack\n")}0000${pkt("zz HEAD\0caps\n")}0000`,
      pkt("version 2\n"),
    ];
    for (const body of bodies) {
      const fetch = fakeFetch({ body }, () => ({}));
      await expect(open(URL, { fetch, limits: quick })).rejects.toBeInstanceOf(GitError);
    }
  });

  test("endless reference lists are cut off", async () => {
    const line = Buffer.from(pkt(`${"ab".repeat(20)} refs/heads/x\n`).repeat(500));
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(line) });
    const session = await open(URL, {
      fetch: fakeFetch(V2, () => ({ body: endless })),
      limits: { ...quick, refs: 10_000 },
    });
    await expect(session.resolve()).rejects.toMatchObject({ code: "LIMIT" });
  });

  test("silence ends in a timeout, abort in ABORTED, and bodies are cancelled", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const wait = (): void => void vi.advanceTimersByTimeAsync(30);
    let cancelled = 0;
    /** A body that never gives anything; calls back when it is asked for something. */
    const silent = (asked: () => void): ReadableStream =>
      new ReadableStream({ pull: asked, cancel: () => void cancelled++ }, { highWaterMark: 0 });
    await expect(pullFrom(() => ({ body: silent(wait) }), commitId, { idleMs: 30 })).rejects.toMatchObject({
      code: "TIMEOUT",
    });
    await expect(pullFrom(() => ({ body: silent(wait) }), commitId, { wallMs: 30 })).rejects.toMatchObject({
      code: "TIMEOUT",
    });
    const never = (): Promise<Response> => {
      wait();
      return new Promise(() => undefined);
    };
    await expect(open(URL, { fetch: never, limits: { ...quick, headersMs: 30 } })).rejects.toMatchObject({
      code: "TIMEOUT",
    });
    const controller = new AbortController();
    const session = await open(URL, {
      fetch: fakeFetch(V2, () => ({ body: silent(() => controller.abort()) })),
      limits: quick,
      signal: controller.signal,
    });
    await expect(pullAll(session, undefined, { commit: commitId })).rejects.toMatchObject({ code: "ABORTED" });
    expect(cancelled).toBe(3);
  });

  test("network failures are tried again, but not after something was delivered", async () => {
    let calls = 0;
    const pulled = await pullFrom(
      (_body, n) => {
        calls++;
        if (n < 2) throw new TypeError("fetch failed");
        return { body: packAnswer(makePack(good)) };
      },
      commitId,
      { attempts: 3 },
    );
    expect([calls, pulled.blobs.size]).toEqual([3, 1]);
    const more = [...good, { type: 3, data: randomBytes(100) }];
    const body = packAnswer(makePack(more));
    calls = 0;
    const cut = pullFrom(
      () => {
        calls++;
        return { body: body.subarray(0, -60) };
      },
      commitId,
      { attempts: 3 },
    );
    // All that is wanted has come before the cut: nothing is missing, nothing is asked again.
    expect((await cut).blobs.size).toBe(1);
    expect(calls).toBe(1);
  });
});
