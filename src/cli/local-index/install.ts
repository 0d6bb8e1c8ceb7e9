import { checkSegment, type CheckedContent } from "../../engines/search/check-segment.ts";
import { SEGMENT_VERSION, Segment } from "../../engines/search/segment.ts";
import { openSnapshot } from "../../engines/snapshot/reader.ts";
import { type SnapshotBytes, SnapshotFormatError } from "../../engines/snapshot/types.ts";
import { contentKey } from "../indexing/bases.ts";
import type { SearchFolder } from "./search-folder.ts";

/**
 * Copies the search segments of a pulled artifact into the search folder, so that its contents need no analysis. A segment that is
 * damaged, or says something else of a content than the artifact's file list, is left out: the next table is then built without it,
 * as if the artifact had none. Needs the write lock. Returns how many segments were copied.
 */
export async function installSegments(folder: SearchFolder, artifact: SnapshotBytes): Promise<number> {
  const snapshot = await openSnapshot(artifact);
  const listed = new Map(
    (await snapshot.listing()).map((file) => [contentKey(file.contentHash, file.language), file] as const),
  );
  let installed = 0;
  try {
    for await (const bytes of snapshot.searchSegments(SEGMENT_VERSION)) {
      const contents = await contentsOf(bytes);
      const agrees = contents?.every(({ sha256, language, chunkCount, symbolCount }) => {
        const file = listed.get(contentKey(sha256, language));
        return file?.chunkCount === chunkCount && file.symbolCount === symbolCount;
      });
      if (!agrees) continue;
      folder.writeSegment(bytes);
      installed++;
    }
  } catch (error) {
    if (!(error instanceof SnapshotFormatError)) throw error;
  }
  return installed;
}

/** Contents of a segment; undefined if anything in it is wrong. */
async function contentsOf(bytes: Uint8Array): Promise<CheckedContent[] | undefined> {
  const source = {
    size: bytes.length,
    read: (offset: number, length: number) => bytes.subarray(offset, offset + length),
  };
  try {
    return await checkSegment(await Segment.open(source));
  } catch {
    // Everything is in memory: whatever is thrown here is over the bytes.
    return undefined;
  }
}
