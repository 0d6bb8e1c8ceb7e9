import type { Context } from "./context.ts";
import { SnapshotFormatError } from "../snapshot/format/types.ts";
import { isDamage } from "./index/damage.ts";
import { IndexDamagedError } from "./index/verified.ts";
import { CliError, EXIT } from "./exit-codes.ts";
import { resolveCommit } from "./git.ts";
import { findProject, type Project, requireGit } from "./project.ts";
import { type LocalIndex, openLocalIndex } from "./search-index/local-index.ts";

export interface RefOption {
  /** Branch, tag or commit to search instead of the work tree. */
  ref?: string;
}

/**
 * Updates the local index and runs `use` on it, for the current work tree or another commit (`ref`). Makes no request. A damaged
 * index is rebuilt, and `use` runs again.
 */
export async function withLocalIndex<T>(
  context: Context,
  use: (index: LocalIndex, project: Project) => Promise<T>,
  { ref }: { ref?: string | undefined } = {},
): Promise<T> {
  const project = await findProject(context, { listFiles: ref === undefined });
  const gitSha = ref === undefined ? undefined : await commitOf(project, ref);
  const openIndex = async (): Promise<LocalIndex> => {
    if (gitSha === undefined) return openLocalIndex(context, project);
    const { openCommitIndex } = await import("./search-index/commit-index.ts");
    return openCommitIndex(context, project, gitSha);
  };
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

/** Returns the error if it means that the index is damaged. */
function damageOf(error: unknown, directory: string): Error | undefined {
  if (isDamage(error, directory)) return error;
  const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
  // Artifacts are read here only as base layers.
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

/** Removes the revision number, which has no meaning for a work tree. */
export function withoutRevision<T extends { revision: number }>(rows: readonly T[]): Omit<T, "revision">[] {
  return rows.map((row) => {
    const { revision: _, ...rest } = row;
    return rest;
  });
}
