import { hasUses } from "../../engines/relations/languages.ts";
import { sha256 } from "../machine/checksum.ts";
import type { FileTree } from "../indexing/file-tree.ts";
import { ParsePool } from "../indexing/parse-pool.ts";
import type { IndexedContent } from "./contents.ts";

/** Files that are being parsed at a time. */
const MAX_IN_FLIGHT = 32;

/** A content, and a path of the work tree that may have it. */
export interface PlacedContent {
  path: string;
  content: IndexedContent;
}

/**
 * Parses contents again whose uses the store does not have, from the files of the work tree that still hold them. Gives their analyses to
 * `onAnalysis` and returns the contents that need no parse or are in no file.
 */
export async function reparse(
  tree: FileTree,
  contents: readonly PlacedContent[],
  onAnalysis: (analysis: Uint8Array) => void,
): Promise<IndexedContent[]> {
  const wanted = contents.filter(({ content }) => hasUses(content.language));
  const others = contents.filter(({ content }) => !hasUses(content.language)).map(({ content }) => content);
  if (wanted.length === 0) return others;
  const pool = new ParsePool(wanted.length);
  const parse = async ({ path, content }: PlacedContent): Promise<void> => {
    const bytes = tree.read(path);
    const isSame = bytes !== undefined && sha256(bytes).toString("hex") === content.sha256;
    const outcome = isSame && hasUses(content.language) ? await pool.parse(bytes, content.language) : undefined;
    if (outcome && "analysis" in outcome) onAnalysis(outcome.analysis);
    else others.push(content);
  };
  try {
    const left = wanted.values();
    const parseNext = async (): Promise<void> => {
      for (const each of left) await parse(each);
    };
    await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, parseNext));
  } finally {
    await pool.close();
  }
  return others;
}
