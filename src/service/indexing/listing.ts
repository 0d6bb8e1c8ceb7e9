/** Lists the files of a commit that a run must look at, and finds out which blobs are already known. */
import type { IndexOptions } from "../../contract/index.ts";
import {
  diffTrees,
  MODE_GITLINK,
  MODE_SYMLINK,
  type TreeEntry,
  type TreeStore,
  walkTree,
} from "../../engines/git/index.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import type { PathVerdict } from "../../engines/parsing/name-verdict.ts";
import { readablePath } from "../../lib/path-text.ts";
import type { BlobSink } from "./blob-sink.ts";
import type { BlobTable } from "./blob-table.ts";
import type { StepContext } from "./context.ts";
import { contentId } from "./ids.ts";
import { pages } from "../../lib/pages.ts";
import { createSelector } from "./select.ts";
import { findTexts } from "../hosted-index/whole-texts/rows.ts";
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

/** A file of the tree that is not ranked. */
export interface OtherFile {
  path: string;
  oid: string;
  reason: string;
  /** Whether its text is stored, unless its content says otherwise. */
  isSearched: boolean;
}

export interface Listing {
  /**
   * Files to index: the whole tree, or what differs from the base. Each iteration reads a whole tree from its objects again,
   * because a list of its paths and ids would take more memory than anything else in a plan.
   */
  files: Iterable<Candidate>;
  fileCount: number;
  /** The rest of the tree, or what differs from the base. */
  others: Iterable<OtherFile>;
  /** Paths that are no longer indexed. */
  deletes: string[];
  /** Paths that the tree no longer has. */
  gone: string[];
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
  const isSearched = (reason: string): boolean => isTextReason(reason, options);
  const leftOut = new Map<string, number>();
  const count = (reason: string, change: number) => leftOut.set(reason, (leftOut.get(reason) ?? 0) + change);
  if (!base) {
    const files = new TreeFiles(wanted, ({ path, mode }) => {
      const verdict = judge(path, mode);
      if (!verdict.take) count(verdict.reason, 1);
      return verdict;
    });
    return { files, fileCount: files.count, others: files.others(isSearched), deletes: [], gone: [], leftOut };
  }
  const files: Candidate[] = [];
  const others: OtherFile[] = [];
  const deletes: string[] = [];
  const gone: string[] = [];
  for (const { path, oid, mode, oldMode, status } of diffTrees(wanted.trees, wanted.root, base.trees, base.root)) {
    const before = status === "added" ? undefined : judge(path, oldMode ?? mode);
    if (before && !before.take) count(before.reason, -1);
    const after = status === "deleted" ? undefined : judge(path, mode);
    if (after?.take) files.push({ path, oid, mode, language: after.language });
    else {
      if (after) {
        count(after.reason, 1);
        others.push({ path, oid, reason: after.reason, isSearched: isSearched(after.reason) });
      } else gone.push(path);
      if (before?.take) deletes.push(path);
    }
  }
  return { files, fileCount: files.length, others, deletes, gone, leftOut };
}

/** Reasons of names for which a file is not ranked, but searched: people may look for what it says. */
const TEXT_REASONS: ReadonlySet<string> = new Set(["vendored", "generated", "minified", "lockfile", "unknown_type"]);

/** Whether a file that is left out for this reason is searched all the same. Those that the options leave out are not. */
export function isTextReason(reason: string, options: Pick<IndexOptions, "include">): boolean {
  return TEXT_REASONS.has(reason) || (reason === "not_included" && !options.include);
}

/** The selected files of a tree. Only the selection is held in memory. */
class TreeFiles {
  count = 0;
  readonly #tree: Tree;
  /** One item per tree entry, in order: the language of a selected one, or why another is left out. */
  readonly #verdicts: (LanguageId | null | LeftOutReason)[] = [];

  constructor(tree: Tree, judge: (entry: TreeEntry) => PathVerdict) {
    this.#tree = tree;
    const reasons = new Map<string, LeftOutReason>();
    for (const entry of walkTree(tree.trees, tree.root)) {
      const verdict = judge(entry);
      if (verdict.take) {
        this.#verdicts.push(verdict.language);
        this.count++;
        continue;
      }
      const reason = reasons.get(verdict.reason) ?? { reason: verdict.reason };
      reasons.set(verdict.reason, reason);
      this.#verdicts.push(reason);
    }
  }

  *[Symbol.iterator](): Generator<Candidate> {
    let index = 0;
    for (const { path, oid, mode } of walkTree(this.#tree.trees, this.#tree.root)) {
      const verdict = this.#verdicts[index++] as LanguageId | null | LeftOutReason;
      if (!isLeftOut(verdict)) yield { path, oid, mode, language: verdict };
    }
  }

  /** The entries that are not selected; like the files, read again by each iteration. */
  others(isSearched: (reason: string) => boolean): Iterable<OtherFile> {
    const tree = this.#tree;
    const verdicts = this.#verdicts;
    return {
      *[Symbol.iterator]() {
        let index = 0;
        for (const { path, oid } of walkTree(tree.trees, tree.root)) {
          const verdict = verdicts[index++] as LanguageId | null | LeftOutReason;
          if (isLeftOut(verdict)) yield { path, oid, reason: verdict.reason, isSearched: isSearched(verdict.reason) };
        }
      },
    };
  }
}

interface LeftOutReason {
  reason: string;
}

const isLeftOut = (verdict: LanguageId | null | LeftOutReason): verdict is LeftOutReason =>
  verdict !== null && typeof verdict === "object";

/** Passes what is already known to the sink; returns the blobs that must be pulled. */
export async function resolveKnown(step: StepContext, listing: Listing, sink: BlobSink): Promise<Iterable<string>> {
  const { blobs } = sink;
  for (const file of listing.files) blobs.want(file.oid, file.language);
  for (const file of listing.others) if (file.isSearched) blobs.wantText(file.oid);
  for (const page of pages(blobs.oidsInOrder())) {
    for (const blob of (await findBlobs(step.db, step.run.tenantId, page)).values()) sink.learn(blob);
    step.mark();
  }
  for (const page of pages(possibleContents(step.run.tenantId, blobs))) {
    for (const id of await findContents(step.db, page)) sink.knownContents.add(id);
    step.mark();
  }
  for (const page of pages(knownHashes(blobs))) {
    for (const sha256 of (await findTexts(step.db, step.run.tenantId, page)).keys()) sink.knownTexts.add(sha256);
    step.mark();
  }
  return missingBlobs(sink);
}

function* knownHashes(blobs: BlobTable): Generator<string> {
  for (let row = 0; row < blobs.size; row++) {
    const sha256 = blobs.sha256At(row);
    if (sha256 !== undefined) yield sha256;
  }
}

/** Content ids of the blobs whose SHA-256 is known, which may or may not be stored. */
function* possibleContents(tenantId: string, blobs: BlobTable): Generator<string> {
  for (let row = 0; row < blobs.size; row++) {
    const sha256 = blobs.sha256At(row);
    if (sha256 === undefined) continue;
    if (blobs.textOnlyAt(row) !== undefined) continue;
    for (const language of blobs.languagesAt(row)) yield contentId(tenantId, sha256, language);
  }
}

function* missingBlobs(sink: BlobSink): Generator<string> {
  const { blobs } = sink;
  for (let row = 0; row < blobs.size; row++) {
    if (blobs.skipAt(row) !== undefined) continue;
    const sha256 = blobs.sha256At(row);
    if (sha256 === undefined || !sink.knownTexts.has(sha256)) yield blobs.oidAt(row);
    else if (blobs.textOnlyAt(row) !== undefined) continue;
    else if (!blobs.languagesAt(row).every((language) => sink.isStored(sha256, language))) yield blobs.oidAt(row);
  }
}
