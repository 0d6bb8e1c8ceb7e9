import { SnapshotFormatError } from "../snapshot/format/types.ts";
import { PARSER_VERSION } from "../parsing/version.ts";
import { CliError, EXIT } from "./exit-codes.ts";
import { worktreeId } from "./index/query.ts";
import { IndexStore } from "./index/store.ts";
import type { Project } from "./project.ts";

/** A base layer that goes away under a reader was replaced; more than once in a row only under a rain of pulls. */
const MAX_TRIES = 3;

/**
 * Reads the index of the work tree as it is at one moment; undefined where there is none. Needs no lock: a base layer that
 * another process replaces meanwhile is read until the end, or, where it was gone already, the newer state is read.
 */
export async function readIndex<T>(
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
      if (isGone && tries < MAX_TRIES) continue;
      if (!isGone && !(cause instanceof SnapshotFormatError)) throw cause;
      const why = isGone ? "its file is gone" : cause.message;
      throw new CliError(
        EXIT.integrity,
        "BAD_SNAPSHOT",
        `the pulled snapshot in the cache is damaged (${why}); run \`codectx pull --force\``,
        { cause },
      );
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
