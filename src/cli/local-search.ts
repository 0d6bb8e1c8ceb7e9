import type { Context } from "./context.ts";
import { SnapshotFormatError } from "../snapshot/format/types.ts";
import { isDamage } from "./index/damage.ts";
import { IndexDamagedError } from "./index/verified.ts";
import { CliError, EXIT } from "./exit-codes.ts";
import { resolveCommit } from "./git.ts";
import { findProject, type Project, requireGit } from "./project.ts";
import { openCommitIndex } from "./search-index/commit-index.ts";
import { type LocalIndex, openLocalIndex } from "./search-index/local-index.ts";

export interface RefOption {
  /** Branch, tag or commit to answer for, instead of the work tree. */
  ref?: string;
}

/**
 * Runs `use` on the local index of the current work tree, which is brought up to date first, or on that of another commit (`ref`):
 * no key, no request. A damaged index is rebuilt, and `use` runs again.
 */
export async function withLocalIndex<T>(
  context: Context,
  use: (index: LocalIndex, project: Project) => Promise<T>,
  { ref }: { ref?: string | undefined } = {},
): Promise<T> {
  const project = await findProject(context, { listFiles: ref === undefined });
  const gitSha = ref === undefined ? undefined : await commitOf(project, ref);
  const openIndex = (): Promise<LocalIndex> =>
    gitSha === undefined ? openLocalIndex(context, project) : openCommitIndex(context, project, gitSha);
  try {
    return await openAndUse(openIndex, project, use);
  } catch (error) {
    const damage = damageOf(error, project.directory);
    if (!damage) throw error;
    const { rebuildIndex } = await import("./session.ts");
    await rebuildIndex(context, project, damage);
    return openAndUse(openIndex, project, use);
  }
}

async function commitOf(project: Project, ref: string): Promise<string> {
  requireGit(project);
  const gitSha = await resolveCommit(project.root, ref);
  if (gitSha !== undefined) return gitSha;
  throw new CliError(EXIT.notFound, "NO_COMMIT", `no such branch, tag or commit in this clone: ${ref}`);
}

/** The error as damage of the index; undefined where it is something else. */
function damageOf(error: unknown, directory: string): Error | undefined {
  if (isDamage(error, directory)) return error;
  const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
  // Nothing but the base layer of a pull is read from an artifact here.
  if (!(error instanceof SnapshotFormatError) && !isGone) return undefined;
  return new IndexDamagedError(`the pulled snapshot: ${isGone ? "its file is gone" : error.message}`, { cause: error });
}

async function openAndUse<T>(
  openIndex: () => Promise<LocalIndex>,
  project: Project,
  use: (index: LocalIndex, project: Project) => Promise<T>,
): Promise<T> {
  const index = await openIndex();
  try {
    return await use(index, project);
  } finally {
    index.close();
  }
}

/** Rows of an answer from one work tree: the number of the revision says nothing there. */
export function withoutRevision<T extends { revision: number }>(rows: readonly T[]): Omit<T, "revision">[] {
  return rows.map((row) => {
    const { revision: _, ...rest } = row;
    return rest;
  });
}
