import { Segment } from "../../engines/search/segment.ts";
import { RevisionTable } from "../../engines/search/table.ts";
import type { ContentKey } from "../../engines/search/types.ts";
import type { OpenFile, SearchFolder } from "./search-folder.ts";

/** Reads records of uses from the segments of a table. */
export interface StoredUses {
  /** The record of each content; undefined where no segment has one. */
  read: (contents: readonly ContentKey[]) => Promise<(Uint8Array | undefined)[]>;
  close: () => void;
}

/** Opens the segments that a table names. Throws `SearchFormatError` if one is damaged. */
export async function openStoredUses(folder: SearchFolder, table: string): Promise<StoredUses> {
  const opened: OpenFile[] = [];
  const close = (): void => {
    for (const file of opened) file.close();
  };
  const open = <T extends OpenFile | undefined>(file: T): NonNullable<T> => {
    if (file === undefined) throw new Error("a file of the search index is missing");
    opened.push(file);
    return file;
  };
  try {
    const { segmentIds } = await RevisionTable.open(open(folder.openTable(table)));
    const segments = await Promise.all(segmentIds.map((id) => Segment.open(open(folder.openSegment(id)))));
    return {
      close,
      read: async (contents) => {
        const records: (Uint8Array | undefined)[] = contents.map(() => undefined);
        for (const segment of segments) {
          const found = [...contents.entries()]
            .map(([position, content]) => ({ position, ordinal: segment.find(content) }))
            .filter(({ position, ordinal }) => ordinal >= 0 && records[position] === undefined);
          const uses = await segment.readUses(found.map(({ ordinal }) => ordinal));
          for (const [i, { position }] of found.entries()) records[position] = uses[i];
        }
        return records;
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
