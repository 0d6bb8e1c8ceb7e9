/** Lists the files of a commit that a run must look at, and finds out which blobs are already known. */
import type { IndexOptions } from "../../contract/index.ts";
import {
  diffTrees,
  MODE_GITLINK,
  MODE_SYMLINK,
  readablePath,
  type TreeEntry,
  type TreeStore,
  walkTree,
} from "../../engines/git/index.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import type { PathVerdict } from "../../engines/parsing/name-verdict.ts";
import type { BlobSink } from "./blob-sink.ts";
import type { BlobTable } from "./blob-table.ts";
import type { StepContext } from "./context.ts";
import { contentId } from "./ids.ts";
import { pages } from "../../lib/pages.ts";
import { createSelector } from "./select.ts";
import { findBlobs, findContents } from "./store.ts";

interface Tree {
  trees: TreeStore;
  root: string;
}

export interface Candidate {
  path: string;
  oid: string;
  mode: number;
  /** Null: determined by the `#!` line. */
  language: LanguageId | null;
}

export interface Listing {
  /**
   * Files to index: the whole tree, or what differs from the base. Each iteration reads a whole tree from its objects again,
   * because a list of its paths and ids would take more memory than anything else in a plan.
   */
  files: Iterable<Candidate>;
  fileCount: number;
  /** Paths that are no longer indexed. */
  deletes: string[];
  /** Number of files skipped by name, per reason; with a base, the difference to the base's number. */
  leftOut: Map<string, number>;
}

/** Lists the files to index. With a base (indexed with the same options), lists only the differences from it. */
export function listCandidates(options: IndexOptions, wanted: Tree, base: Tree | undefined): Listing {
  const select = createSelector(options);
  const judge = (path: string, mode: number): PathVerdict => {
    if (mode === MODE_SYMLINK) return { take: false, reason: "symlink" };
    if (mode === MODE_GITLINK) return { take: false, reason: "submodule" };
    return select(readablePath(path));
  };
  const leftOut = new Map<string, number>();
  const count = (reason: string, change: number) => leftOut.set(reason, (leftOut.get(reason) ?? 0) + change);
  if (!base) {
    const files = new TreeFiles(wanted, ({ path, mode }) => {
      const verdict = judge(path, mode);
      if (!verdict.take) count(verdict.reason, 1);
      return verdict;
    });
    return { files, fileCount: files.count, deletes: [], leftOut };
  }
  const files: Candidate[] = [];
  const deletes: string[] = [];
  for (const { path, oid, mode, oldMode, status } of diffTrees(wanted.trees, wanted.root, base.trees, base.root)) {
    const before = status === "added" ? undefined : judge(path, oldMode ?? mode);
    if (before && !before.take) count(before.reason, -1);
    const after = status === "deleted" ? undefined : judge(path, mode);
    if (after?.take) files.push({ path, oid, mode, language: after.language });
    else {
      if (after) count(after.reason, 1);
      if (before?.take) deletes.push(path);
    }
  }
  return { files, fileCount: files.length, deletes, leftOut };
}

/** The selected files of a tree. Only the selection is held in memory. */
class TreeFiles {
  count = 0;
  private readonly tree: Tree;
  /** One item per tree entry, in order; undefined for skipped entries. */
  private readonly languages: (LanguageId | null | undefined)[] = [];

  constructor(tree: Tree, judge: (entry: TreeEntry) => PathVerdict) {
    this.tree = tree;
    for (const entry of walkTree(tree.trees, tree.root)) {
      const verdict = judge(entry);
      this.languages.push(verdict.take ? verdict.language : undefined);
      if (verdict.take) this.count++;
    }
  }

  *[Symbol.iterator](): Generator<Candidate> {
    let index = 0;
    for (const { path, oid, mode } of walkTree(this.tree.trees, this.tree.root)) {
      const language = this.languages[index++];
      if (language !== undefined) yield { path, oid, mode, language };
    }
  }
}

/** Passes what is already known to the sink; returns the blobs that must be pulled. */
export async function resolveKnown(step: StepContext, listing: Listing, sink: BlobSink): Promise<Iterable<string>> {
  const { blobs } = sink;
  for (const file of listing.files) blobs.want(file.oid, file.language);
  for (const page of pages(blobs.oidsInOrder())) {
    for (const blob of (await findBlobs(step.db, step.run.tenantId, page)).values()) sink.learn(blob);
    step.mark();
  }
  for (const page of pages(possibleContents(step.run.tenantId, blobs))) {
    for (const id of await findContents(step.db, page)) sink.knownContents.add(id);
    step.mark();
  }
  return missingBlobs(sink);
}

/** Content ids of the blobs whose SHA-256 is known, which may or may not be stored. */
function* possibleContents(tenantId: string, blobs: BlobTable): Generator<string> {
  for (let row = 0; row < blobs.size; row++) {
    const sha256 = blobs.sha256At(row);
    if (sha256 === undefined) continue;
    for (const language of blobs.languagesAt(row)) yield contentId(tenantId, sha256, language);
  }
}

function* missingBlobs(sink: BlobSink): Generator<string> {
  const { blobs } = sink;
  for (let row = 0; row < blobs.size; row++) {
    if (blobs.skipAt(row) !== undefined) continue;
    const sha256 = blobs.sha256At(row);
    const stored = sha256 !== undefined && blobs.languagesAt(row).every((language) => sink.isStored(sha256, language));
    if (!stored) yield blobs.oidAt(row);
  }
}
