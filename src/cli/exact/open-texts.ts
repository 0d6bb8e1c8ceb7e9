import type { FileBytes, RevisionTexts } from "../../engines/exact/types.ts";
import { lineCountOf } from "../../engines/parsing/source-text.ts";
import type { FileLines } from "../../interface/questions/code-index.ts";
import { linesOfText } from "../../interface/questions/file-lines.ts";
import { inBackground } from "../background.ts";
import type { Project } from "../project.ts";
import { listFiles } from "../indexing/list-files.ts";
import { stateName } from "../local-index/state-name.ts";
import { recordsFile } from "./records-file.ts";
import { TextCache } from "./text-cache.ts";
import { type WorkTree, workTreeText, workTreeTexts } from "./work-tree-texts.ts";

/** The texts of a work tree as they are now, uncommitted edits included. */
export async function openWorkTreeTexts(
  project: Project,
  enclosing: RevisionTexts["enclosing"],
  onProgress?: WorkTree["onProgress"],
): Promise<RevisionTexts> {
  const nowMs = Date.now();
  const listed = inBackground(listFiles(project));
  // Read while git answers.
  const cache = new TextCache(recordsFile(project, stateName(project.root)));
  const listing = await listed;
  return workTreeTexts({ root: project.root, listing, cache, enclosing, nowMs, onProgress });
}

/** Lines of a file of the work tree that is searched and not indexed; undefined if there is none. */
export async function searchedLines(
  project: Project,
  path: string,
  start?: number,
  end?: number,
): Promise<FileLines | undefined> {
  const listing = await listFiles(project);
  const found = await workTreeText({ root: project.root, listing, nowMs: Date.now() }, path);
  return found && linesOfFile(found.text, found.language, start, end);
}

/** As `searchedLines`, of a commit. */
export async function searchedLinesOfCommit(
  project: Project,
  gitSha: string,
  path: string,
  start?: number,
  end?: number,
): Promise<FileLines | undefined> {
  const texts = await openCommitTexts(project, gitSha, () => Promise.resolve([]));
  const file = (await texts.files()).find((each) => each.path === path);
  if (file?.content === undefined) return undefined;
  for await (const text of texts.read([file.content]))
    if ("bytes" in text) return linesOfFile(text, file.language, start, end);
  return undefined;
}

function linesOfFile({ bytes, withheld }: FileBytes, language: string | null, start?: number, end?: number): FileLines {
  const ranges = withheld.map(([from, to]): [number, number] => [from, to]);
  return linesOfText({ bytes, lineCount: lineCountOf(bytes), withheld: ranges }, language, start, end);
}

/** The texts of a commit. */
export async function openCommitTexts(
  project: Project,
  gitSha: string,
  enclosing: RevisionTexts["enclosing"],
): Promise<RevisionTexts> {
  const { commitTexts } = await import("./commit-texts.ts");
  const cache = new TextCache(recordsFile(project, "commits"));
  return commitTexts({ root: project.root, gitSha, cache, enclosing });
}
