import { outlinesOf } from "./definitions.ts";
import type { RankedFile } from "./rerank.ts";
import type { SearchIndex } from "./search-index.ts";
import type { TextSource, WantedText } from "./types.ts";

/** Chunks of a small file. */
const MAX_CHUNKS = 200;

/** Whole texts of small files, given by their numbers, put together from their chunks; undefined for those without one. */
export async function wholeTexts(
  index: SearchIndex,
  files: readonly number[],
  texts: TextSource,
): Promise<(string | undefined)[]> {
  const records = await outlinesOf(
    index,
    files.map((file) => ({ file })),
  );
  const wanted = records.map((record, i) => {
    const chunks = record.chunks.length > MAX_CHUNKS ? [] : [...record.chunks.keys()];
    return wantedChunks(index, { file: files[i] as number, record }, chunks);
  });
  const loaded = wanted.length === 0 ? [] : await texts(wanted);
  return loaded.map(({ chunks }) => (chunks.length === 0 || chunks.includes("") ? undefined : chunks.join("\n")));
}

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
