import type { Context } from "./context.ts";
import { SnapshotFormatError } from "../snapshot/format/types.ts";
import { isDamage } from "./index/damage.ts";
import { IndexDamagedError } from "./index/verified.ts";
import { findProject, type Project } from "./project.ts";
import { type LocalIndex, openLocalIndex } from "./search-index/local-index.ts";

/**
 * Runs `use` on the local index of the current work tree, which is brought up to date first: no key, no request. A damaged index
 * is rebuilt, and `use` runs again.
 */
export async function withLocalIndex<T>(
  context: Context,
  use: (index: LocalIndex, project: Project) => Promise<T>,
): Promise<T> {
  const project = await findProject(context, { listFiles: true });
  try {
    return await openAndUse(context, project, use);
  } catch (error) {
    const damage = damageOf(error, project.directory);
    if (!damage) throw error;
    const { rebuildIndex } = await import("./session.ts");
    await rebuildIndex(context, project, damage);
    return openAndUse(context, project, use);
  }
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
  context: Context,
  project: Project,
  use: (index: LocalIndex, project: Project) => Promise<T>,
): Promise<T> {
  const index = await openLocalIndex(context, project);
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
