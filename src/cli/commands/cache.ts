import { existsSync } from "node:fs";
import { listCache, removeCached, type CachedIndex } from "../indexing/cache.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { indexesDirectory } from "../machine/paths.ts";
import { formatBytes, formatCount, table } from "../terminal/ui.ts";

export interface CleanOptions {
  /** Every index. */
  all?: boolean;
  /** Indexes not used for this many days. */
  olderThan?: number;
}

const DAY_MS = 86_400_000;

/** `codectx cache list` */
export function cacheList(context: Context): void {
  const indexes = listCache(context.env);
  const folder = indexesDirectory(context.env);
  const sizeBytes = indexes.reduce((sum, index) => sum + index.sizeBytes, 0);
  const document = indexes.map(({ usedAtMs, repository, worktrees, ...rest }) => ({
    repository: repository ?? null,
    ...rest,
    usedAt: new Date(usedAtMs).toISOString(),
    worktrees: worktrees ?? null,
  }));
  context.ui.result({ folder, sizeBytes, indexes: document }, () => {
    if (indexes.length === 0) return `No local index in ${folder}.`;
    const rows = indexes.map((index) => [
      index.repository ?? "unknown",
      formatBytes(index.sizeBytes),
      new Date(index.usedAtMs).toISOString().slice(0, 10),
      index.worktrees === undefined ? "not readable" : formatCount(index.worktrees.length),
    ]);
    return [
      ...table([["REPOSITORY", "SIZE", "LAST USED", "WORK TREES"], ...rows]),
      `${formatBytes(sizeBytes)} in ${folder}`,
    ];
  });
}

/** `codectx cache clean [repository…]`: deletes the named indexes, or those whose work trees are all gone. */
export async function cacheClean(context: Context, names: readonly string[], options: CleanOptions): Promise<void> {
  const indexes = listCache(context.env);
  for (const name of names) {
    if (indexes.some((index) => isNamed(index, name))) continue;
    throw new CliError(EXIT.notFound, "NO_INDEX", `no index of ${name} in the cache: see \`codectx cache list\``);
  }
  const olderThan = options.olderThan === undefined ? undefined : Date.now() - options.olderThan * DAY_MS;
  const chosen = indexes.filter((index) => {
    if (names.length > 0) return names.some((name) => isNamed(index, name));
    if (options.all) return true;
    if (olderThan !== undefined) return index.usedAtMs < olderThan;
    return index.worktrees === undefined || !index.worktrees.some((root) => existsSync(root));
  });
  for (const { directory } of chosen) await removeCached(directory);
  const freedBytes = chosen.reduce((sum, index) => sum + index.sizeBytes, 0);
  const removed = chosen.map(({ repository, directory }) => repository ?? directory);
  context.ui.result({ removed, freedBytes }, () =>
    removed.length === 0
      ? "Nothing to remove: every index has a work tree. --all removes them nevertheless."
      : [...removed.map((name) => `removed ${name}`), `${formatBytes(freedBytes)} freed`],
  );
}

function isNamed({ repository, directory }: CachedIndex, name: string): boolean {
  return repository === name || directory === name || directory.endsWith(`/${name}`);
}
