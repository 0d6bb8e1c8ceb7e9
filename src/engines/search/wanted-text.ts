import type { RankedFile } from "./rerank.ts";
import type { SearchIndex } from "./search-index.ts";
import type { WantedText } from "./types.ts";

/** Chunks of a file to be read, by their ordinals. */
export function wantedChunks(
  index: SearchIndex,
  { file, record }: Pick<RankedFile, "file" | "record">,
  ordinals: readonly number[],
): WantedText {
  return {
    ...index.contentKey(file),
    revision: index.revisionOf(file),
    path: index.path(file),
    chunks: ordinals.map((ordinal) => {
      const { startLine, endLine } = record.chunks[ordinal] as (typeof record.chunks)[number];
      return { ordinal, startLine, endLine };
    }),
    symbols: [],
  };
}
