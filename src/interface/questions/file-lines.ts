/** Lines of a file, from its whole text: the same hosted and on a laptop. */
import { decodeText } from "../../engines/parsing/source-text.ts";
import type { StoredText } from "../../engines/texts/pack.ts";
import type { FileLines } from "./code-index.ts";

/** Language of a text whose language is not known. */
const PLAIN = "text";

/** Lines `start` to `end` of a text, 1-based and inclusive. */
export function linesOfText(
  { bytes, lineCount, withheld }: Pick<StoredText, "bytes" | "lineCount" | "withheld">,
  language: string | null,
  start = 1,
  end = lineCount,
): FileLines {
  const lines = decodeText(bytes).split("\n");
  const first = Math.min(start, lineCount + 1);
  const until = Math.min(end, lineCount);
  // A withheld last line without a line end is not in the text.
  while (lines.length < lineCount) lines.push("");
  return {
    language: language ?? PLAIN,
    lineCount,
    startLine: lineCount === 0 ? 0 : first,
    endLine: until,
    text: lines.slice(first - 1, until).join("\n"),
    withheld: withheld
      .filter(([from, to]) => to >= first && from <= until)
      .map(([from, to]) => [Math.max(from, first), Math.min(to, until)]),
  };
}
