import { createHash } from "node:crypto";
import { expect } from "vitest";
import {
  connect,
  type GitDeps,
  type GitRemote,
  type GitSession,
  MODE_GITLINK,
  type PullRequest,
  type PullResult,
  type TreeStore,
  walkTree,
} from "../../../src/engines/git/index.ts";
import { pathToBytes } from "../../../src/lib/path-text.ts";
import type { GitRepo } from "../../support/git-repo.ts";

export const LIMIT_BYTES = 150_000;

export interface Pulled extends PullResult {
  commit: string;
  blobs: Map<string, Buffer>;
  oversize: Map<string, number | undefined>;
  plans: number;
}

export const open = (url: string, deps: Partial<GitDeps> = {}, auth?: GitRemote["auth"]): Promise<GitSession> =>
  connect({ url, auth }, { fetch, hosts: { allowLocal: true }, ...deps });

/** Every blob of a tree. */
export const allBlobs = (trees: TreeStore, root: string): Set<string> =>
  new Set([...walkTree(trees, root)].filter((entry) => entry.mode !== MODE_GITLINK).map((entry) => entry.oid));

/** Pulls a commit, recording what is delivered and how often the plan is asked for. */
export async function pullAll(session: GitSession, ref?: string, extra: Partial<PullRequest> = {}): Promise<Pulled> {
  const commit = extra.commit ?? (await session.resolve(ref)).oid;
  const blobs = new Map<string, Buffer>();
  const oversize = new Map<string, number | undefined>();
  let plans = 0;
  const { plan = allBlobs, ...rest } = extra;
  const result = await session.pull({
    maxBlobBytes: LIMIT_BYTES,
    onBlob: (oid, data) => {
      expect(blobs.has(oid)).toBe(false);
      blobs.set(oid, Buffer.from(data));
    },
    onOversize: (oid, size) => {
      expect(oversize.has(oid)).toBe(false);
      oversize.set(oid, size);
    },
    ...rest,
    commit,
    plan: (trees, root) => {
      plans++;
      return plan(trees, root);
    },
  });
  expect(plans).toBe(1);
  return { ...result, commit, blobs, oversize, plans };
}

/** Compares a pull with what git itself says: every path, mode and id, and the content of every blob. */
export function expectSameAsGit(repo: GitRepo, pulled: Pulled, oversize: readonly string[] = []): void {
  const listed = repo.list(pulled.commit);
  const mine = [...walkTree(pulled.trees, pulled.rootTree)];
  expect(mine.map((e) => [e.mode, e.oid, Buffer.from(pathToBytes(e.path)).toString("latin1")])).toEqual(
    listed.map((file) => [file.mode, file.oid, file.rawPath]),
  );
  const expected = new Set(listed.filter((file) => file.type === "blob").map((file) => file.oid));
  for (const oid of oversize) expected.delete(oid);
  expect([...pulled.blobs.keys()].sort()).toEqual([...expected].sort());
  expect([...pulled.oversize.keys()].sort()).toEqual([...oversize].sort());
  const algorithm = pulled.commit.length === 64 ? "sha256" : "sha1";
  for (const [oid, data] of pulled.blobs) {
    expect(createHash(algorithm).update(`blob ${data.length}\0`).update(data).digest("hex")).toBe(oid);
  }
}
