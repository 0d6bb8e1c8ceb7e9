import type { FileLines } from "../../questions/code-index.ts";
import { outlinesOf } from "../../retrieval/definitions.ts";
import type { SearchIndex } from "../../retrieval/search-index.ts";
import { SourceText } from "../../parsing/source-text.ts";
import type { FileTree } from "../index/file-tree.ts";

/**
 * Lines of an indexed file of the work tree as it is now; lines that were withheld from the index are withheld here too. Undefined
 * if the path is not indexed, or its file is gone.
 */
export async function readLines(
  index: SearchIndex,
  tree: FileTree,
  path: string,
  start = 1,
  end = Infinity,
): Promise<FileLines | undefined> {
  const file = index.fileAt(0, path);
  const bytes = file === undefined ? undefined : tree.read(path);
  if (file === undefined || !bytes) return undefined;
  const [outline] = await outlinesOf(index, [{ file }]);
  return linesOf(new SourceText(bytes), outline?.chunks ?? [], { path, language: index.language(file) }, start, end);
}

/** Lines of a text without those of its withheld chunks. */
export function linesOf(
  source: SourceText,
  chunks: readonly { startLine: number; endLine: number; withheld: boolean }[],
  file: { path: string; language: string },
  start = 1,
  end = Infinity,
): FileLines {
  const startLine = Math.min(Math.max(1, Math.floor(start)), Math.max(1, source.lineCount));
  const endLine = Math.max(startLine, Math.min(Math.floor(end), source.lineCount));
  const withheld = chunks
    .filter((chunk) => chunk.withheld && chunk.startLine <= endLine && chunk.endLine >= startLine)
    .map((chunk): [number, number] => [Math.max(chunk.startLine, startLine), Math.min(chunk.endLine, endLine)]);
  const lines: string[] = [];
  for (let line = startLine; line <= Math.min(endLine, source.lineCount); line++)
    lines.push(withheld.some(([from, to]) => line >= from && line <= to) ? "" : source.line(line - 1));
  return { ...file, startLine, endLine, lineCount: source.lineCount, text: lines.join("\n"), withheld };
}
