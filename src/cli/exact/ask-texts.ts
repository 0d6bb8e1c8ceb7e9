import { basename } from "node:path";
import type { OpenTexts } from "../../interface/questions/code-index.ts";
import { inBackground } from "../background.ts";
import type { Context } from "../context.ts";
import { submodulesOf } from "../submodules.ts";
import { commitOf, findProject, type Project } from "../project.ts";

/** A search that takes no longer shows no progress. */
const SHORT_MS = 1_000;

/**
 * Asks about the texts of the current work tree, or of a commit (`ref`), without its search index: nothing is indexed. Enclosing symbols
 * are not known. Returns the answer with the root of the work tree.
 */
export async function askTexts<T>(
  context: Context,
  ask: (texts: OpenTexts, project: Project) => Promise<T>,
  { ref }: { ref?: string | undefined },
): Promise<{ answer: T; root: string }> {
  const finding = inBackground(findProject(context, { listFiles: ref === undefined }));
  // Loaded while git answers.
  const { openCommitTexts, openWorkTreeTexts } = await import("./open-texts.ts");
  const project = await finding;
  const gitSha = ref === undefined ? project.head : await commitOf(project, ref);
  const info = {
    name: project.repo ?? basename(project.root),
    gitSha: gitSha ?? null,
    indexedAtMs: Date.now(),
    isWorkTree: ref === undefined,
    submodules: submodulesOf(project.root),
  };
  const texts = () =>
    ref === undefined || gitSha === undefined
      ? openWorkTreeTexts(project, noSymbols, (done, total) => line.update(done, total, `${done}/${total} files`))
      : openCommitTexts(project, gitSha, noSymbols);
  const line = context.ui.progress("Searching", { afterMs: SHORT_MS });
  try {
    return { answer: await ask({ indexes: [info], texts }, project), root: project.root };
  } finally {
    line.end();
  }
}

async function noSymbols(wanted: readonly { lines: readonly number[] }[]): Promise<null[][]> {
  return wanted.map(({ lines }) => lines.map(() => null));
}
