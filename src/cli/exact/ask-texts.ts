import { basename } from "node:path";
import type { OpenTexts } from "../../interface/questions/code-index.ts";
import { inBackground } from "../background.ts";
import type { Context } from "../context.ts";
import { commitOf, findProject } from "../project.ts";

/**
 * Asks about the texts of the current work tree, or of a commit (`ref`), without its search index: nothing is indexed. Enclosing symbols
 * are not known. Returns the answer with the root of the work tree.
 */
export async function askTexts<T>(
  context: Context,
  ask: (texts: OpenTexts) => Promise<T>,
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
  };
  const texts = () =>
    ref === undefined || gitSha === undefined
      ? openWorkTreeTexts(project, noSymbols)
      : openCommitTexts(project, gitSha, noSymbols);
  return { answer: await ask({ indexes: [info], texts }), root: project.root };
}

async function noSymbols(wanted: readonly { lines: readonly number[] }[]): Promise<null[][]> {
  return wanted.map(({ lines }) => lines.map(() => null));
}
