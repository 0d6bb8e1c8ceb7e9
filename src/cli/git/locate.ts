import { dirname, join } from "node:path";
import { existsSync } from "node:fs";
import { inBackground } from "../background.ts";
import { textHash } from "../machine/checksum.ts";
import { knowNameHashes, nameHash } from "../machine/name-hash.ts";
import { stampOf } from "../indexing/file-stat.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { steeringVariables } from "./command.ts";
import { findWorkTree, readRemoteUrls, trackedRemote, type WorkTree } from "./git.ts";
import { type KeptAnswer, type LocatedTree, readKept, writeKept } from "./located-file.ts";

/** The last answers of git, by folder, in this process. */
const answers = new Map<string, KeptAnswer>();
/** Folders whose answer is kept. */
const MAX_KEPT = 100;
/** More is no configuration that a person keeps. */
const MAX_CONFIG_BYTES = 1024 * 1024;
const MAX_REF_BYTES = 4 * 1024;
/** Sections of a configuration that name files. */
const INCLUDES = /^[ \t]*\[[ \t]*include/im;
/** References that name another reference, as `HEAD` does. */
const MAX_SYMBOLIC = 5;

/**
 * Finds the work tree around `cwd`; undefined outside of git. Who asks again, as a server does for every request, gets the answer that git
 * gave before while the repository's own configuration and what `HEAD` names are the same: starting git for them takes longer than most
 * look-ups. With `file`, answers are kept in it for other processes. Throws what {@link findWorkTree} throws.
 */
export async function locateWorkTree(cwd: string, file?: string): Promise<LocatedTree | undefined> {
  const { last, before, isCurrent } = knownAnswer(cwd, file);
  if (isCurrent) return last?.tree;
  const remoteUrls = inBackground(readRemoteUrls(cwd));
  const found = await findWorkTree(cwd);
  if (!found) return undefined;
  const tree = { ...found, remote: await chooseRemote(cwd, await remoteUrls) };
  // What changes while git answers is asked again, and so is a commit that it does not find.
  const isSettled = tree.head !== undefined && before !== undefined && before === stateOf(cwd, tree);
  if (answers.size >= MAX_KEPT) answers.clear();
  const answer = { tree, state: isSettled ? before : undefined };
  answers.set(cwd, answer);
  if (file !== undefined) writeKept(file, cwd, answer);
  return tree;
}

/** The work tree that {@link locateWorkTree} finds without asking git; undefined if it has to ask. */
export function locateKnown(cwd: string, file: string): LocatedTree | undefined {
  const { last, isCurrent } = knownAnswer(cwd, file);
  if (isCurrent) knowNameHashes(last?.hashes ?? {});
  return isCurrent ? last?.tree : undefined;
}

/** Keeps the hashes of names that belong to the answer for a folder, if there is one. */
export function keepNameHashes(cwd: string, file: string, names: readonly string[]): void {
  const answer = answers.get(cwd) ?? readKept(file, cwd);
  if (!answer || names.every((name) => answer.hashes?.[name] !== undefined)) return;
  const hashes = Object.fromEntries(names.map((name) => [name, nameHash(name)]));
  answers.set(cwd, { ...answer, hashes });
  writeKept(file, cwd, { ...answer, hashes });
}

/** The last answer for a folder, the present state of what it was read from, and whether that is the same. */
function knownAnswer(
  cwd: string,
  file: string | undefined,
): { last: KeptAnswer | undefined; before: string | undefined; isCurrent: boolean } {
  const last = answers.get(cwd) ?? (file === undefined ? undefined : readKept(file, cwd));
  const before = last && stateOf(cwd, last.tree);
  return { last, before, isCurrent: before !== undefined && before === last?.state };
}

/** `origin`, else the remote that the branch tracks, else the first. */
async function chooseRemote(cwd: string, remotes: ReadonlyMap<string, string>): Promise<string | undefined> {
  if (remotes.size <= 1 || remotes.has("origin")) return remotes.get("origin") ?? [...remotes.values()][0];
  return remotes.get((await trackedRemote(cwd)) ?? "") ?? [...remotes.values()][0];
}

/** A digest of what git reads to find a work tree, its remotes and its commit; undefined if that cannot be told. */
function stateOf(cwd: string, { root, gitDir, commonDir }: WorkTree): string | undefined {
  const own = new FileTree(gitDir);
  const common = new FileTree(commonDir);
  const parts: (string | undefined)[] = [nearestGitFolder(cwd), root, gitDir, commonDir].concat(steeringVariables());
  const link = new FileTree(root);
  // In a linked work tree `.git` is a file that names the git directory.
  parts.push(link.lstatFolder(".git") ? "" : read(link, ".git", MAX_REF_BYTES));
  for (const [tree, path] of [
    [common, "config"],
    [own, "config.worktree"],
    [own, "commondir"],
    [own, "reftable/tables.list"],
    [common, "reftable/tables.list"],
  ] as const)
    parts.push(read(tree, path, MAX_CONFIG_BYTES));
  // Git reads other files then.
  if (parts.some((part) => part !== undefined && INCLUDES.test(part))) return undefined;
  let ref = read(own, "HEAD", MAX_REF_BYTES);
  if (ref === undefined || ref === "") return undefined;
  parts.push(ref);
  for (let i = 0; ref?.startsWith("ref:") === true; i++) {
    const name: string = ref.slice("ref:".length).trim();
    if (i === MAX_SYMBOLIC || !name.startsWith("refs/") || name.split("/").includes("..")) return undefined;
    ref = read(own, name, MAX_REF_BYTES) || read(common, name, MAX_REF_BYTES);
    parts.push(ref);
  }
  // Git replaces this file whole, so its stamp changes with it. It may have megabytes.
  const packed = ref === "" ? common.lstat("packed-refs") : undefined;
  parts.push(packed ? stampOf(packed) : "");
  return parts.includes(undefined) ? undefined : textHash(parts.join("\0"));
}

/** The text of a file; empty if there is none, undefined if it is something else or longer than `max`. */
function read(tree: FileTree, path: string, max: number): string | undefined {
  const bytes = tree.read(path, max);
  if (bytes === undefined) return (tree.lstat(path) ?? tree.irregular(path)) ? undefined : "";
  return bytes.length === max ? undefined : Buffer.from(bytes).toString("latin1");
}

/** The nearest folder around `cwd` with a `.git`. */
function nearestGitFolder(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder))
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return folder;
}
