import { WHOLE_BIT } from "../search/analyze.ts";
import { eachPosting, readPostings } from "../search/postings.ts";
import { hashOfIdentifier } from "../search/references.ts";
import type { SearchIndex } from "../search/search-index.ts";

/**
 * For each identifier the files that mention it, in order of number; undefined for one that is too short or too common to be looked up. The
 * postings of all are read together.
 */
export async function filesWithNames(
  index: SearchIndex,
  names: readonly string[],
): Promise<(readonly number[] | undefined)[]> {
  const hashes = names.map(hashOfIdentifier);
  const found = hashes.map((hash) => (hash === undefined ? undefined : new Set<number>()));
  const wanted = hashes.flatMap((hash, name) => (hash === undefined ? [] : [{ hash, name }]));
  for (const [s, segment] of index.segments.entries()) {
    const documents = index.documentOfChunk[s] as Int32Array;
    const lists = await readPostings(
      segment.terms,
      wanted.map(({ hash }) => hash),
    );
    for (const [i, { name }] of wanted.entries()) {
      const list = lists[i];
      if (!list) continue;
      eachPosting(list, (chunk, counts) => {
        if ((counts & WHOLE_BIT) === 0) return;
        for (let d = documents[chunk] ?? -1; d >= 0; d = index.nextDocument[d] as number)
          found[name]?.add(index.fileOfDocument[d] as number);
      });
    }
  }
  return found.map((files) => files && [...files].sort((a, b) => a - b));
}
