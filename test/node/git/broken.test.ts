import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GitError, type GitErrorCode } from "../../../src/engines/git/index.ts";
import { type GitBackend, startGitBackend } from "../../support/git-backend.ts";
import { GitRepo } from "../../support/git-repo.ts";
import { ADVERTISEMENT, type Answer, fakeFetch, quick, URL, V2 } from "./fake.ts";
import { expectSameAsGit, open, pullAll } from "./harness.ts";

describe("redirects", () => {
  const refs = "/info/refs?service=git-upload-pack";
  /** Follows `hops`; records where and with what authorization it was asked. */
  const walk = async (hops: Record<string, string>, allowLocal = false) => {
    const seen: [string, boolean][] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const url = input as string;
      seen.push([url, new Headers(init?.headers).has("authorization")]);
      const location = hops[url];
      if (location !== undefined) return new Response("moved", { status: 301, headers: { location } });
      return new Response(V2.body, { headers: { "content-type": ADVERTISEMENT } });
    };
    await open(URL, { fetch, hosts: { allowLocal }, limits: quick }, { token: "t" });
    return seen;
  };

  test("are followed, without the token once the origin changes", async () => {
    const seen = await walk({
      [URL + refs]: `/renamed.git${refs}`,
      [`https://git.example.com/renamed.git${refs}`]: `https://mirror.example.org/x${refs}`,
      [`https://mirror.example.org/x${refs}`]: `https://git.example.com/back${refs}`,
    });
    expect(seen.map(([, auth]) => auth)).toEqual([true, true, false, false]);
  });

  test.each<[string, string, GitErrorCode]>([
    ["to http", `http://git.example.com/r${refs}`, "URL_FORBIDDEN"],
    ["to an address", `https://169.254.169.254/r${refs}`, "URL_FORBIDDEN"],
    ["to a local name", `https://localhost/r${refs}`, "URL_FORBIDDEN"],
    ["to a local http server, even where those are allowed", `http://127.0.0.1:1/r${refs}`, "URL_FORBIDDEN"],
    ["to a login page", "https://git.example.com/login", "PROTOCOL"],
    ["round and round", URL + refs, "PROTOCOL"],
    ["to nonsense", "https://", "PROTOCOL"],
  ])("are refused: %s", async (_name, location, code) => {
    await expect(walk({ [URL + refs]: location }, true)).rejects.toMatchObject({ code });
  });
});

describe("transfers that break", () => {
  let repo: GitRepo;
  let backend: GitBackend;
  let body: Buffer;
  let id: string;
  beforeAll(async () => {
    repo = new GitRepo();
    for (let i = 0; i < 30; i++) {
      repo.write(
        `d${i % 4}/f${i}.txt`,
        Array.from({ length: 40 + i }, (_, n) => `line ${n} of about ${i % 5}\n`).join(""),
      );
    }
    repo.write("noise.bin", randomBytes(3000));
    id = repo.commit();
    repo.repack();
    backend = await startGitBackend(repo.root);
    backend.options.transform = (bytes) => (body = bytes);
    await pullAll(await open(backend.url("repo")));
    backend.options = {};
  });
  afterAll(async () => {
    await backend.close();
    repo.remove();
  });

  const replay = async (bytes: Uint8Array) => {
    const answers: Answer = { body: Buffer.from(bytes) };
    const session = await open(URL, {
      fetch: fakeFetch(V2, (_b, n) => (n === 0 ? answers : { status: 500 })),
      limits: quick,
    });
    return pullAll(session, undefined, { commit: id });
  };

  test("cut anywhere: an error, or all of it", async () => {
    expectSameAsGit(repo, await replay(body));
    await fc.assert(
      fc.asyncProperty(fc.nat(body.length - 1), async (length) => {
        try {
          expectSameAsGit(repo, await replay(body.subarray(0, length)));
        } catch (error) {
          expect(error).toBeInstanceOf(GitError);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("flipped anywhere: an error, or all of it; never a wrong byte, never a hang", async () => {
    const flip = fc.tuple(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }));
    await fc.assert(
      fc.asyncProperty(fc.array(flip, { minLength: 1, maxLength: 3 }), async (flips) => {
        const bytes = Buffer.from(body);
        for (const [at, bits] of flips) bytes[at]! ^= bits;
        try {
          expectSameAsGit(repo, await replay(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(GitError);
        }
      }),
      { numRuns: 100 },
    );
  });

  test("a real server cut off: tried again when nothing was delivered", async () => {
    for (const cutCleanly of [false, true]) {
      backend.options = { cutAfterBytes: 700, cutTimes: 2, cutCleanly };
      expectSameAsGit(repo, await pullAll(await open(backend.url("repo")), undefined, { commit: id }));
      backend.options = { cutAfterBytes: 700, cutCleanly };
      const session = await open(backend.url("repo"), { limits: { attempts: 2 } });
      await expect(pullAll(session, undefined, { commit: id })).rejects.toMatchObject({ code: "NETWORK" });
    }
    backend.options = { unavailableTimes: 1 };
    expectSameAsGit(repo, await pullAll(await open(backend.url("repo"))));
    backend.options = { stallAfterBytes: 700 };
    // Where git itself takes as long to start, the timeout comes earlier: the answer is the same.
    const stalled = open(backend.url("repo"), { limits: { idleMs: 50 } }).then((session) => pullAll(session));
    await expect(stalled).rejects.toMatchObject({ code: "TIMEOUT" });
    backend.options = {};
  });

  test("nobody listens", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const error: unknown = await open(`http://127.0.0.1:${port}/r`, { limits: quick }).catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: "NETWORK",
      retryable: true,
      stderr: expect.stringContaining("ECONNREFUSED") as string,
    });
  });
});
