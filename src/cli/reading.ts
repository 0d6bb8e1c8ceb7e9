import { PARSER_VERSION } from "../parsing/version.ts";
import { SnapshotFormatError } from "../snapshot/format/types.ts";
import type { Context } from "./context.ts";
import { CliError, EXIT } from "./exit-codes.ts";
import { isDamage } from "./index/damage.ts";
import { worktreeId } from "./index/query.ts";
import { IndexStore } from "./index/store.ts";
import { IndexDamagedError } from "./index/verified.ts";
import type { Project } from "./project.ts";

/** Another process may replace a base layer while it is read; that this happens more than twice in a row is damage. */
const MAX_TRIES = 3;

/**
 * Reads the index of the work tree as of one moment; undefined where there is none. Takes no lock. A damaged index is rebuilt
 * first, without embedding.
 */
export async function readIndex<T>(
  context: Context,
  project: Project,
  read: (store: IndexStore, worktree: number) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await readOnce(project, read);
  } catch (error) {
    if (!isDamage(error, project.directory)) throw error;
    const { rebuildIndex } = await import("./session.ts");
    await rebuildIndex(context, project, error);
    return readOnce(project, read);
  }
}

async function readOnce<T>(
  project: Project,
  read: (store: IndexStore, worktree: number) => Promise<T>,
): Promise<T | undefined> {
  for (let tries = 1; ; tries++) {
    const store = IndexStore.openForReading(project.directory, PARSER_VERSION);
    if (!store) return undefined;
    try {
      store.db.exec("begin");
      const worktree = worktreeId(store, project.root);
      return worktree === undefined ? undefined : await read(store, worktree);
    } catch (cause) {
      const isGone = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
      if (cause instanceof SnapshotFormatError)
        throw new IndexDamagedError(`the pulled snapshot: ${cause.message}`, { cause });
      if (!isGone) throw cause;
      if (tries >= MAX_TRIES) throw new IndexDamagedError("the pulled snapshot: its file is gone", { cause });
    } finally {
      store.close();
    }
  }
}

export function noIndex(): CliError {
  return new CliError(
    EXIT.notFound,
    "NO_INDEX",
    "this work tree has no local index yet: run `codectx pull` or `codectx index --local` first",
  );
}
