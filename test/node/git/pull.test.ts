import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { diffTrees, parseLfsPointer, walkTree } from "../../../src/engines/git/index.ts";
import { type GitBackend, type GitBackendOptions, startGitBackend } from "../../support/git-backend.ts";
import { GitRepo } from "../../support/git-repo.ts";
import { allBlobs, expectSameAsGit, LIMIT_BYTES, open, pullAll } from "./harness.ts";

/** Text that compresses and deltas like code. */
const code = (seed: number, lines: number): string =>
  Array.from(
    { length: lines },
    (_, i) => `const value${(i * 7919 + seed) % 977} = compute(${(i * seed) % 613}, "x");\n`,
  ).join("");

/** A repository with one of everything, in several revisions. Returns the first and the last commit. */
function fill(repo: GitRepo): { first: string; last: string; big: string } {
  for (let i = 0; i < 40; i++) repo.write(`src/dir${i % 7}/file${i}.ts`, code(i + 1, 30 + i * 5));
  repo.files({ "empty.txt": "", "crlf.txt": "a\r\nb\r\n", "binary.bin": Buffer.from(randomBytes(5000)) });
  repo.executable("run.sh", "#!/bin/sh\n").symlink("link", "src/dir0/file0.ts").symlink("dangling", "../../nowhere");
  repo.lfs("model.bin");
  const first = repo.commit("first");
  repo.write("big.bin", randomBytes(LIMIT_BYTES + 1)).write("edge.bin", randomBytes(LIMIT_BYTES));
  repo
    .write("naïve/日本語.txt", "ünï\n")
    .write("new\nline.txt", "x")
    .write(Buffer.from("raw/\xff\xfe.txt", "latin1"), "y");
  repo.write('"quoted"', "q").write("src/dir1/file1.ts", `${code(2, 35)}// changed\n`);
  repo.rename("src/dir2/file2.ts", "src/moved.ts").delete("crlf.txt");
  repo.submodule("vendor/module");
  const last = repo.commit("second");
  repo.tag("v1.0").tag("light", "HEAD", false).tag("nested", "v1.0").branch("feature/x", first).repack();
  return { first, last, big: repo.git("rev-parse", `${last}:big.bin`) };
}

const TOKEN = "sesame-token";

describe.each(["sha1", "sha256"] as const)("pulling %s repositories", (objectFormat) => {
  let repo: GitRepo;
  let backend: GitBackend;
  let commits: { first: string; last: string; big: string };
  beforeAll(async () => {
    repo = new GitRepo({ objectFormat });
    commits = fill(repo);
    backend = await startGitBackend(repo.root);
  });
  afterAll(async () => {
    await backend.close();
    repo.remove();
  });
  const start = (options: GitBackendOptions): string => {
    backend.options = options;
    backend.requests.length = 0;
    return backend.url("repo");
  };

  const servers: [string, GitBackendOptions][] = [
    ["v2 with filters", {}],
    ["v2 without filters", { filters: false }],
    ["v2 that fails on blob:limit", { failBlobLimit: true }],
    ["v0 with filters", { v0Only: true }],
    ["v0 without filters", { v0Only: true, filters: false }],
    ["v0 with ref deltas only", { v0Only: true, filters: false, hideCapabilities: ["ofs-delta"] }],
    ["v0 without side-band", { v0Only: true, filters: false, hideCapabilities: ["side-band", "side-band-64k"] }],
    ["v0 without shallow", { v0Only: true, filters: false, hideCapabilities: ["shallow"] }],
  ];

  // The id's length matters to parsing alone: two servers show that.
  const relevant = servers.filter(
    ([name]) => objectFormat === "sha1" || /^v2 with filters|^v0 without filters/.test(name),
  );
  describe.each(relevant)("%s", (_name, options) => {
    test("first pull", async () => {
      const session = await open(start({ ...options }));
      expect(session.objectFormat).toBe(objectFormat);
      const pulled = await pullAll(session);
      expect(pulled.commit).toBe(commits.last);
      expectSameAsGit(repo, pulled, [commits.big]);
      expect([undefined, LIMIT_BYTES + 1]).toContain(pulled.oversize.get(commits.big));
    });

    test("with a ring so small that most bases are gone", async () => {
      const session = await open(start({ ...options }), { limits: { ringBytes: 20_000, wantsPerRequest: 40 } });
      expectSameAsGit(repo, await pullAll(session), [commits.big]);
    });

    test("re-index", async () => {
      const session = await open(start({ ...options }));
      const old = await pullAll(session, undefined, { commit: commits.first });
      expectSameAsGit(repo, old);
      const known = new Set(old.blobs.keys());
      const again = await pullAll(session, undefined, {
        have: { commit: commits.first, trees: old.trees },
        plan: (trees, root) => new Set([...allBlobs(trees, root)].filter((oid) => !known.has(oid))),
      });
      expect([...again.oversize.keys()]).toEqual([commits.big]);
      for (const oid of again.blobs.keys()) expect(known.has(oid)).toBe(false);
      again.blobs = new Map([
        ...again.blobs,
        ...[...old.blobs].filter(([oid]) => allBlobs(again.trees, again.rootTree).has(oid)),
      ]);
      expectSameAsGit(repo, again, [commits.big]);
      const changes = [...diffTrees(again.trees, again.rootTree, old.trees, old.rootTree)];
      const diff = repo
        .run(["diff-tree", "-r", "-z", "--no-renames", "--name-status", commits.first, commits.last])
        .toString();
      expect(changes.map((change) => change.status.charAt(0).toUpperCase()).join("")).toBe(
        diff
          .split("\0")
          .filter((_, i) => i % 2 === 0)
          .join(""),
      );
    });

    test("the same commit again needs next to nothing", async () => {
      const session = await open(start({ ...options }));
      const old = await pullAll(session);
      const again = await pullAll(session, undefined, {
        have: { commit: old.commit, trees: old.trees },
        plan: () => new Set<string>(),
      });
      expect(again.rootTree).toBe(old.rootTree);
    });
  });

  test("resolves HEAD, branches, tags, nested tags, full names and commit ids; says what is wrong with the rest", async () => {
    for (const v0Only of [false, true]) {
      const session = await open(start({ v0Only }));
      const { first, last } = commits;
      const expected: [string | undefined, string, string | null][] = [
        [undefined, last, "refs/heads/main"],
        ["HEAD", last, "refs/heads/main"],
        ["main", last, "refs/heads/main"],
        ["feature/x", first, "refs/heads/feature/x"],
        ["v1.0", last, "refs/tags/v1.0"],
        ["light", last, "refs/tags/light"],
        ["nested", last, "refs/tags/nested"],
        ["refs/tags/nested", last, "refs/tags/nested"],
        ["tags/nested", last, "refs/tags/nested"],
        [last, last, null],
        [last.toUpperCase(), last, null],
        [repo.head("nested^{tag}"), last, null],
      ];
      for (const [ref, oid, refName] of expected) {
        expect(await session.resolve(ref)).toEqual({ oid, refName, defaultBranch: "main" });
      }
      for (const ref of ["nope", "mai", "feature", "a..b", "", "-x", "a b", "main\n0000"]) {
        await expect(session.resolve(ref)).rejects.toMatchObject({ code: "REF_NOT_FOUND" });
      }
      await expect(session.resolve(last.slice(0, 9))).rejects.toThrow(/abbreviated/);
      await expect(session.resolve("ab".repeat(last.length / 2))).rejects.toMatchObject({ code: "REF_NOT_FOUND" });
      if (!v0Only) {
        await expect(session.resolve(commits.big)).rejects.toMatchObject({ code: "REF_NOT_FOUND" });
      }
    }
  });

  test("a commit that is no commit, or that does not exist", async () => {
    for (const v0Only of [false, true]) {
      const session = await open(start({ v0Only }));
      for (const commit of [
        "ab".repeat(commits.last.length / 2),
        repo.head("HEAD^{tree}"),
        repo.head("nested^{tag}"),
      ]) {
        await expect(pullAll(session, undefined, { commit })).rejects.toMatchObject({ code: "REF_NOT_FOUND" });
      }
    }
  });
});

describe("what moves", () => {
  test("one request brings a small repository; a plan that wants nothing ends early", async () => {
    using repo = new GitRepo();
    fill(repo);
    await using backend = await startGitBackend(repo.root);
    const pulled = await pullAll(await open(backend.url("repo")));
    expect(pulled.stats).toMatchObject({ requests: 1, blobs: pulled.blobs.size });
    expect(backend.requests.map((request) => request.method)).toEqual(["GET", "POST", "POST"]);
    const none = await pullAll(await open(backend.url("repo")), undefined, { plan: () => new Set<string>() });
    expect(none.blobs.size).toBe(0);
  });

  test("large want lists go gzip-compressed, in batches, with a length", async () => {
    using repo = new GitRepo();
    repo.write("a.txt", "first\n");
    const first = repo.commit();
    for (let i = 0; i < 250; i++) repo.write(`f/${i}.txt`, `content ${i}\n`);
    repo.commit();
    await using backend = await startGitBackend(repo.root);
    const session = await open(backend.url("repo"), { limits: { wantsPerRequest: 100 } });
    const { trees } = await pullAll(session, undefined, { commit: first });
    expectSameAsGit(repo, await pullAll(session, undefined, { have: { commit: first, trees } }));
    const wants = backend.requests.filter((request) => request.headers["content-encoding"] === "gzip");
    expect(wants.map((request) => request.body.split("want ").length - 1)).toEqual([100, 100, 51]);
    expect(wants.every((request) => Number(request.headers["content-length"]) > 0)).toBe(true);
  });

  test("a one-file change moves little", async () => {
    using repo = new GitRepo();
    for (let i = 0; i < 300; i++) repo.write(`d${i % 20}/${i}.ts`, code(i + 1, 100));
    const first = repo.commit();
    repo.write("d3/3.ts", `${code(4, 100)}// changed\n`);
    repo.commit();
    await using backend = await startGitBackend(repo.root);
    const session = await open(backend.url("repo"));
    const old = await pullAll(session, undefined, { commit: first });
    const again = await pullAll(session, undefined, {
      have: { commit: first, trees: old.trees },
      plan: (trees, root) => new Set([...allBlobs(trees, root)].filter((oid) => !old.blobs.has(oid))),
    });
    expect(again.blobs.size).toBe(1);
    expect(again.stats.receivedBytes).toBeLessThan(3000);
    expect(again.stats.requests).toBe(2);
  });

  test("backpressure: never two blobs at a time", async () => {
    using repo = new GitRepo();
    for (let i = 0; i < 60; i++) repo.write(`${i}.txt`, `content ${i}\n`);
    repo.commit();
    await using backend = await startGitBackend(repo.root);
    let busy = 0;
    let count = 0;
    const session = await open(backend.url("repo"));
    await pullAll(session, undefined, {
      onBlob: async () => {
        expect(++busy).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 1));
        busy--;
        count++;
      },
    });
    expect(count).toBe(60);
  });

  test("errors of the caller's own functions come back as they are", async () => {
    using repo = new GitRepo();
    repo.write("a", "b").commit();
    await using backend = await startGitBackend(repo.root);
    const session = await open(backend.url("repo"));
    const mine = new Error("mine");
    const fail = (): never => {
      throw mine;
    };
    await expect(pullAll(session, undefined, { plan: fail })).rejects.toBe(mine);
    await expect(pullAll(session, undefined, { onBlob: fail })).rejects.toBe(mine);
    await expect(pullAll(session, undefined, { onBlob: () => Promise.reject(mine) })).rejects.toBe(mine);
  });

  test("LFS pointers and submodules are told apart", async () => {
    using repo = new GitRepo();
    repo.lfs("model.bin", 77).submodule("sub").commit();
    await using backend = await startGitBackend(repo.root);
    const pulled = await pullAll(await open(backend.url("repo")));
    const entries = Object.fromEntries([...walkTree(pulled.trees, pulled.rootTree)].map((e) => [e.path, e]));
    expect(entries["sub"]?.mode).toBe(0o160000);
    expect(parseLfsPointer(pulled.blobs.get(entries["model.bin"]?.oid ?? "") ?? Buffer.alloc(0))?.size).toBe(77);
    expect(pulled.blobs.size).toBe(1);
  });
});

describe("access", () => {
  test("tokens", async () => {
    using repo = new GitRepo();
    repo.write("a", "b").commit();
    await using backend = await startGitBackend(repo.root, { requireToken: TOKEN, requireUser: "x-access-token" });
    const url = backend.url("repo");
    expectSameAsGit(repo, await pullAll(await open(url, {}, { token: TOKEN })));
    await expect(open(url)).rejects.toMatchObject({ code: "AUTH" });
    const wrong = open(url, {}, { token: "wr0ng-t0ken" });
    await expect(wrong).rejects.toMatchObject({
      code: "AUTH",
      stderr: "HTTP 401",
    });
    await expect(wrong).rejects.not.toMatchObject({
      stderr: expect.stringMatching(/wr0ng-t0ken|d3IwbmctdDBrZW4|OndyMG5n/) as string,
    });
    backend.options = { requireToken: TOKEN, requireUser: "someone" };
    await expect(open(url, {}, { token: TOKEN })).rejects.toMatchObject({ code: "AUTH" });
    expectSameAsGit(repo, await pullAll(await open(url, {}, { token: TOKEN, username: "someone" })));
  });

  test("empty repositories, and HEAD without a commit", async () => {
    using empty = new GitRepo();
    for (const v0Only of [false, true]) {
      await using backend = await startGitBackend(empty.root, { v0Only });
      await expect((await open(backend.url("repo"))).resolve()).rejects.toMatchObject({ code: "EMPTY_REPOSITORY" });
      await expect((await open(backend.url("repo"))).resolve("main")).rejects.toMatchObject({
        code: "EMPTY_REPOSITORY",
      });
    }
    using dangling = new GitRepo();
    dangling.write("a", "b").commit();
    dangling.git("symbolic-ref", "HEAD", "refs/heads/gone");
    await using backend = await startGitBackend(dangling.root);
    const session = await open(backend.url("repo"));
    await expect(session.resolve()).rejects.toMatchObject({ code: "REF_NOT_FOUND" });
    expectSameAsGit(dangling, await pullAll(session, "main"), []);
  });

  test("a commit with an empty tree", async () => {
    using repo = new GitRepo();
    repo.commit();
    await using backend = await startGitBackend(repo.root);
    expect((await pullAll(await open(backend.url("repo")))).blobs.size).toBe(0);
  });

  test("repositories that are not there", async () => {
    using repo = new GitRepo();
    await using backend = await startGitBackend(repo.root);
    await expect(open(backend.url("other"))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
