import { inBackground } from "../background.ts";
import type { Context } from "../context.ts";
import type { Project } from "../project.ts";
import { SearchFormatError } from "../../retrieval/types.ts";
import { examineTreeBeside } from "./examine-beside.ts";
import { examineTree, type StateNames } from "./examine-tree.ts";
import type { LocalIndex } from "./local-index.ts";
import { SearchFolder } from "./search-folder.ts";
import { lastTable, stateName } from "./table-names.ts";

/** From some 6,000 files on, a process examines them while this one searches: at 22,000 files the two take equally long. */
const LARGE_STATE_BYTES = 512 * 1024;

/**
 * Brings the index of a work tree up to date, uncommitted edits included, and asks it. The first call in a repository indexes all of
 * it, with progress; later ones what changed. A damaged search index is rebuilt. `ask` must do nothing besides answering: what it
 * answers is dropped if the files turn out to have changed, and it is asked again. Throws what `updateWorkTree` throws.
 */
export async function askWorkTree<T>(
  context: Context,
  project: Project,
  ask: (index: LocalIndex) => Promise<T>,
): Promise<T> {
  const folder = new SearchFolder(project.directory);
  const askTable = async (name: string, options: { rebuild: boolean }): Promise<T> => {
    const { openLocalIndex } = await import("./local-index.ts");
    const index = await openLocalIndex(context, project, name, options);
    try {
      return await ask(index);
    } finally {
      index.close();
    }
  };
  const asked = await askLastTable(project, folder, (name) => askTable(name, { rebuild: false }));
  if (asked) return asked.answer;
  const { updatedTable } = await import("./update.ts");
  return askTable(await updatedTable(context, project, folder), { rebuild: true });
}

/**
 * The answer from the last table. Undefined if the work tree is no longer in the state for which it was written, or the table cannot
 * be opened: it is damaged, or another process has just replaced it.
 */
async function askLastTable<T>(
  project: Project,
  folder: SearchFolder,
  askTable: (name: string) => Promise<T>,
): Promise<{ answer: T } | undefined> {
  const { root, directory } = project;
  const name = stateName(root);
  const table = lastTable(project, folder);
  if (table === undefined) return undefined;
  const isLarge = folder.stateSize(name) >= LARGE_STATE_BYTES;
  const state = isLarge ? examineTreeBeside({ root, directory, name }) : examineTree({ root, directory, name });
  const current = inBackground(isLastState(project, table, state));
  if (!isLarge && !(await current)) return undefined;
  // Settled in any case, so that the index is closed before it is written or removed.
  const [answer] = await Promise.allSettled([askTable(table)]);
  if (!(await current)) return undefined;
  if (answer.status === "fulfilled") return { answer: answer.value };
  if (answer.reason instanceof SearchFormatError) return undefined;
  throw answer.reason;
}

/** Whether a table is that of the work tree's last state, and the work tree is still in it, also by git's list of its files. */
async function isLastState(
  { head, files }: Project,
  table: string,
  examined: StateNames | undefined | Promise<StateNames | undefined>,
): Promise<boolean> {
  const state = await examined;
  if (state?.table !== table || state.head !== (head ?? null)) return false;
  return !files || (await files).digest === state.listing;
}
