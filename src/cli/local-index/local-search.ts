import { inBackground } from "../background.ts";
import type { Context } from "../context.ts";
import { NotFoundError, unreadText } from "../../interface/questions/code-index.ts";
import { SnapshotFormatError } from "../../engines/snapshot/types.ts";
import { isDamage } from "../indexing/damage.ts";
import { IndexDamagedError } from "../indexing/verified.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { commitOf, findProject, type Project } from "../project.ts";
import type { LocalIndex } from "./local-index.ts";

/** Paths that `--json` lists at most of those that were not searched. */
const MAX_GAPS = 100;

export interface RefOption {
  /** Branch, tag or commit to search instead of the work tree. */
  ref?: string;
}

/**
 * Updates the local index and asks it, for the current work tree or another commit (`ref`). Makes no request. A damaged index is
 * rebuilt. `ask` may run more than once, so it must have no effects: it returns what is to be shown.
 */
export async function withLocalIndex<T>(
  context: Context,
  ask: (index: LocalIndex, project: Project) => Promise<T>,
  { ref }: { ref?: string | undefined } = {},
): Promise<T> {
  const finding = inBackground(findProject(context, { listFiles: ref === undefined }));
  // Whatever git need not wait for is loaded while it answers.
  const { askWorkTree } = await import("./ask-work-tree.ts");
  if (ref === undefined) await import("./local-index.ts");
  const project = await finding;
  const gitSha = ref === undefined ? undefined : await commitOf(project, ref);
  const answer = async (): Promise<T> => {
    if (gitSha === undefined)
      return askWorkTree(context, project, (index) => ask(index, project).catch(unlessWhole(index)));
    const { openCommitIndex } = await import("./commit-index.ts");
    const index = await openCommitIndex(context, project, gitSha);
    try {
      return await ask(index, project).catch(unlessWhole(index));
    } finally {
      index.close();
    }
  };
  try {
    return await answer();
  } catch (error) {
    const damage = damageOf(error, project.directory);
    if (!damage) throw error;
    const { rebuildIndex } = await import("../indexing/session.ts");
    await rebuildIndex(context, project, damage);
    return answer();
  }
}

/** Which state of the files an answer comes from, for `--json`. */
export function stateOf({ info: { gitSha, indexedAtMs, stale, unread = [] } }: LocalIndex): {
  gitSha: string | null;
  complete?: false;
  gaps?: { path: string; reason: "unreadable" }[];
  stale?: true;
  staleReason?: string;
  indexedAt?: string;
} {
  if (unread.length > 0)
    return {
      gitSha,
      complete: false,
      gaps: unread.slice(0, MAX_GAPS).map((path) => ({ path, reason: "unreadable" })),
    };
  if (stale === undefined) return { gitSha };
  return { gitSha, stale: true, staleReason: stale, indexedAt: new Date(indexedAtMs).toISOString() };
}

/** What an index does not have that is stale, or lacks files, may be in the files all the same. */
function unlessWhole({ info: { stale, unread = [] } }: LocalIndex): (error: unknown) => never {
  return (error) => {
    const isCli = error instanceof CliError && error.exit === EXIT.notFound;
    const isPart = unread.length > 0;
    if ((stale === undefined && !isPart) || !(isCli || error instanceof NotFoundError)) throw error;
    const details = isCli ? error.details : {};
    if (isPart)
      throw new CliError(EXIT.io, "INCOMPLETE", `${error.message}; ${unreadText(unread)}`, {
        details: { ...details, complete: false },
        cause: error,
      });
    const message = `the index is stale, it cannot be updated (${stale}), and in it: ${error.message}`;
    throw new CliError(EXIT.io, "INDEX_STALE", message, { details: { ...details, stale: true }, cause: error });
  };
}

/** Returns the error if it means that the index is damaged. */
function damageOf(error: unknown, directory: string): Error | undefined {
  if (isDamage(error, directory)) return error;
  const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
  // Artifacts are read here only as base layers.
  if (!(error instanceof SnapshotFormatError) && !isGone) return undefined;
  return new IndexDamagedError(`the pulled snapshot: ${isGone ? "its file is gone" : error.message}`, { cause: error });
}
