import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import { IDENTITY_FILE } from "./identity.ts";
import { LOCK_FILES, takeWriteLock } from "./lock.ts";
import { IndexStore } from "./store.ts";
import { indexesDirectory, type Environment } from "../machine/paths.ts";

/** One local index in the cache. */
export interface CachedIndex {
  directory: string;
  /** Identity of the repository; undefined if unknown. */
  repository: string | undefined;
  sizeBytes: number;
  /** Last change of a file, in milliseconds since the epoch. */
  usedAtMs: number;
  /** Indexed work trees; undefined if the index cannot be read. */
  worktrees: string[] | undefined;
}

/** Lists the local indexes, largest first. */
export function listCache(env: Environment): CachedIndex[] {
  const folder = indexesDirectory(env);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => describe(join(folder, name)))
    .sort((a, b) => b.sizeBytes - a.sizeBytes || (a.directory < b.directory ? -1 : 1));
}

function describe(directory: string): CachedIndex {
  let sizeBytes = 0;
  let usedAtMs = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const stats = statSync(join(directory, name), { throwIfNoEntry: false });
    if (stats?.isFile() !== true) continue;
    sizeBytes += stats.size;
    usedAtMs = Math.max(usedAtMs, stats.mtimeMs);
  }
  return {
    directory,
    repository: readIdentity(directory),
    sizeBytes,
    usedAtMs,
    worktrees: readWorktrees(directory)?.map(({ root }) => root),
  };
}

function readIdentity(directory: string): string | undefined {
  try {
    return readFileSync(join(directory, IDENTITY_FILE), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** A work tree with a local index, as it was when it was indexed last. */
export interface IndexedWorkTree {
  root: string;
  /** Commit that was checked out; null before the first one and outside of git. */
  head: string | null;
  indexedAtMs: number;
  fileCount: number;
}

/** The work trees of all readable local indexes whose folders exist, each with the identity of its repository. */
export function listWorkTrees(env: Environment): (IndexedWorkTree & { identity: string | undefined })[] {
  const folder = indexesDirectory(env);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      const directory = join(folder, name);
      const identity = readIdentity(directory);
      return (readWorktrees(directory) ?? []).map((tree) => Object.assign(tree, { identity }));
    })
    .filter(({ root }) => existsSync(root))
    .sort((a, b) => (a.root < b.root ? -1 : 1));
}

/** None where a run ended before it wrote an index; undefined if the index cannot be read. */
function readWorktrees(directory: string): IndexedWorkTree[] | undefined {
  if (!existsSync(IndexStore.fileIn(directory))) return [];
  try {
    const store = IndexStore.openForReading(directory, PARSER_VERSION);
    if (!store) return undefined;
    try {
      return store
        .prepare("select root, head, totals, indexed_at from worktrees order by root")
        .all()
        .map(({ root, head, totals, indexed_at: indexedAt }) => ({
          root: String(root),
          head: head === null ? null : String(head),
          indexedAtMs: Number(indexedAt),
          // Empty until its first run has ended.
          fileCount: (JSON.parse(String(totals)) as { fileCount?: number }).fileCount ?? 0,
        }));
    } finally {
      store.close();
    }
  } catch {
    return undefined;
  }
}

/** Deletes an index. Throws `INDEX_BUSY` if a process is writing to it. */
export async function removeCached(directory: string, remove = rmSync): Promise<void> {
  const lock = await takeWriteLock(directory, { command: "cache clean", waitMs: 0 });
  const removeFolder = (): void => remove(directory, { recursive: true, force: true });
  let isLockLeft = false;
  try {
    for (const name of readdirSync(directory))
      if (!LOCK_FILES.includes(name)) remove(join(directory, name), { recursive: true, force: true });
    try {
      removeFolder();
    } catch {
      // Windows removes no file that is open, which the lock is.
      isLockLeft = true;
    }
  } finally {
    lock.release();
  }
  // Now the lock of another process, if there is one, keeps the folder in place.
  if (isLockLeft && readdirSync(directory).every((name) => LOCK_FILES.includes(name))) removeFolder();
}
