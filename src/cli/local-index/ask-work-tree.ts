import type { Context } from "../context.ts";
import type { Project } from "../project.ts";
import { SearchFormatError } from "../../engines/search/types.ts";
import { type Examination, examineTree } from "./examine-tree.ts";
import type { LocalIndex } from "./local-index.ts";
import { SearchFolder } from "./search-folder.ts";
import type { AskedTable } from "./update.ts";

/**
 * Brings the index of a work tree up to date, uncommitted edits included, and asks it. The first call in a repository indexes all of
 * it, with progress; later ones what changed. A damaged search index is rebuilt. `ask` may run twice, so it must do nothing besides
 * answering. If the index cannot be written, the newest table there is is asked, as stale. Throws what `updateWorkTree` throws.
 */
export async function askWorkTree<T>(
  context: Context,
  project: Project,
  ask: (index: LocalIndex) => Promise<T>,
): Promise<T> {
  const folder = new SearchFolder(project.directory);
  const askTable = async (table: AskedTable, options: { rebuild: boolean; last: boolean }): Promise<T> => {
    const { openWorkTreeIndex } = await import("./local-index.ts");
    const index = await openWorkTreeIndex(context, project, table, options);
    try {
      return await ask(index);
    } finally {
      index.close();
    }
  };
  const last = examineTree(folder, project.root);
  const asked =
    last && (await askLastTable(project, last, (name) => askTable({ name }, { rebuild: false, last: true })));
  if (asked) return asked.answer;
  const { updatedTable } = await import("./update.ts");
  return askTable(await updatedTable(context, project, folder, last), { rebuild: true, last: false });
}

/**
 * The answer from the last table. Undefined if the work tree is no longer in the state for which it was written, or the table cannot
 * be opened: it is damaged, or another process has just replaced it. If git lists the files, the table is asked meanwhile.
 */
async function askLastTable<T>(
  { head, files }: Project,
  last: Examination,
  askTable: (name: string) => Promise<T>,
): Promise<{ answer: T } | undefined> {
  if (!last.isSame || last.head !== (head ?? null)) return undefined;
  const isCurrent = async () => !files || (await files.listing).digest === last.listing;
  // Another table will be needed, most likely: at 108,000 files asking this one takes 0.25 s.
  if (files?.hasChanged() === true && !(await isCurrent())) return undefined;
  try {
    const answer = await askTable(last.table);
    return (await isCurrent()) ? { answer } : undefined;
  } catch (error) {
    // An index of files that have changed is updated before it is called damaged.
    if (error instanceof SearchFormatError || !(await isCurrent())) return undefined;
    throw error;
  }
}
