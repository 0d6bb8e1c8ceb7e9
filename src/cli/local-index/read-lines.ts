import type { FileLines } from "../../interface/questions/code-index.ts";
import { DEFAULT_MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import { outlinesOf } from "../../engines/search/definitions.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import type { SearchIndex } from "../../engines/search/search-index.ts";
import { SourceText } from "../../engines/parsing/source-text.ts";
import { sha256 } from "../machine/checksum.ts";
import type { FileTree } from "../indexing/file-tree.ts";

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
  // A stale index may have a file that is too large by now.
  const bytes = file === undefined ? undefined : tree.read(path, DEFAULT_MAX_FILE_SIZE_BYTES + 1);
  if (file === undefined || !bytes || bytes.length > DEFAULT_MAX_FILE_SIZE_BYTES) return undefined;
  const language = index.language(file);
  const isIndexed = sha256(bytes).toString("hex") === index.contentKey(file).sha256;
  const [outline] = isIndexed ? await outlinesOf(index, [{ file }]) : [await parsed(bytes, language)];
  return linesOf(new SourceText(bytes), outline?.chunks ?? [], { path, language }, start, end);
}

/** The chunks of a file that has changed since it was indexed: its secrets may be on other lines by now. */
async function parsed(bytes: Uint8Array<ArrayBuffer>, language: string) {
  const [{ fileParser }, { packedGrammars }] = await Promise.all([
    import("../indexing/parse-file.ts"),
    import("../indexing/parse-pool.ts"),
  ]);
  const outcome = await fileParser(packedGrammars())(bytes, language as LanguageId);
  // What would not be indexed is withheld as a whole.
  return "file" in outcome ? outcome.file : { chunks: [{ startLine: 1, endLine: Infinity, withheld: true }] };
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
