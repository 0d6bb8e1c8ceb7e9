import { DEFAULT_MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import { findWithheld } from "../../engines/parsing/secrets/find-withheld.ts";
import { blankLines, type LineRange } from "../../engines/parsing/secrets/lines.ts";
import { lineCountOf } from "../../engines/parsing/source-text.ts";
import type { SearchIndex } from "../../engines/search/search-index.ts";
import type { FileLines } from "../../interface/questions/code-index.ts";
import { linesOfText } from "../../interface/questions/file-lines.ts";
import type { FileTree } from "../indexing/file-tree.ts";
import { sha256 } from "../machine/checksum.ts";

/**
 * Lines of an indexed file of the work tree as it is now, without those that may hold a secret. Undefined if the path is not indexed, or
 * its file is gone.
 */
export function readLines(
  index: SearchIndex,
  tree: FileTree,
  path: string,
  start?: number,
  end?: number,
): FileLines | undefined {
  const file = index.fileAt(0, path);
  // A stale index may have a file that is too large by now.
  const bytes = file === undefined ? undefined : tree.read(path, DEFAULT_MAX_FILE_SIZE_BYTES + 1);
  if (file === undefined || !bytes || bytes.length > DEFAULT_MAX_FILE_SIZE_BYTES) return undefined;
  return linesOf(bytes, index.language(file), start, end);
}

/** Lines of the bytes of a file, without those that may hold a secret. */
export function linesOf(bytes: Uint8Array, language: string, start?: number, end?: number): FileLines {
  const withheld = withheldOf(bytes);
  return linesOfText(
    { bytes: blankLines(bytes, withheld), lineCount: lineCountOf(bytes), withheld },
    language,
    start,
    end,
  );
}

/** Files whose withheld lines are kept. */
const MAX_KNOWN = 200;
const known = new Map<string, LineRange[]>();

/** As `findWithheld`. A server shows lines of the same files again and again, and finding secrets takes longer than all else. */
function withheldOf(bytes: Uint8Array): LineRange[] {
  const key = sha256(bytes).toString("latin1");
  const found = known.get(key) ?? findWithheld(bytes);
  known.delete(key);
  known.set(key, found);
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  return found;
}
