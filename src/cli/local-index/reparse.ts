import { hasUses } from "../../engines/relations/languages.ts";
import { readIntactBlobs } from "../git/objects.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { ParsePool } from "../indexing/parse-pool.ts";
import { sha256 } from "../machine/checksum.ts";
import type { IndexedContent } from "./contents.ts";

/** Files that are being parsed at a time. */
const MAX_IN_FLIGHT = 32;

/** A content, and a path of the tree that may have it. */
export interface PlacedContent {
  path: string;
  content: IndexedContent;
}

/** Reads those of the files that can be read, in any order. */
export type ReadFiles = (
  files: readonly PlacedContent[],
) => AsyncGenerator<{ file: PlacedContent; bytes: Uint8Array<ArrayBuffer> }>;

/** Reads files of a work tree. */
export function filesOfWorkTree(root: string): ReadFiles {
  const tree = new FileTree(root);
  return async function* (files) {
    for (const file of files) {
      const bytes = tree.read(file.path);
      if (bytes !== undefined) yield { file, bytes };
    }
  };
}

/** Reads files of a commit, by the ids of their objects. */
export function filesOfCommit(root: string, oids: ReadonlyMap<string, string>): ReadFiles {
  return async function* (files) {
    const wanted = files.flatMap((file) => {
      const oid = oids.get(file.path);
      return oid === undefined ? [] : [{ file, oid }];
    });
    let next = 0;
    for await (const { bytes } of readIntactBlobs(
      root,
      wanted.map(({ oid }) => oid),
    )) {
      const file = wanted[next++]?.file;
      if (file !== undefined && bytes !== undefined) yield { file, bytes };
    }
  };
}

/**
 * Parses contents again whose uses the store does not have, from files that still hold them. Gives their analyses to `onAnalysis` and
 * returns the contents that need no parse or are in no file.
 */
export async function reparse(
  read: ReadFiles,
  contents: readonly PlacedContent[],
  onAnalysis: (analysis: Uint8Array) => void,
): Promise<IndexedContent[]> {
  const wanted = contents.filter(({ content }) => hasUses(content.language));
  const left = new Set(contents.map(({ content }) => content));
  if (wanted.length === 0) return [...left];
  const pool = new ParsePool(wanted.length);
  const files = read(wanted);
  const parseNext = async (): Promise<void> => {
    for await (const { file, bytes } of { [Symbol.asyncIterator]: () => files }) {
      const { content } = file;
      const isSame = sha256(bytes).toString("hex") === content.sha256;
      const outcome = isSame && hasUses(content.language) ? await pool.parse(bytes, content.language) : undefined;
      if (outcome === undefined || !("analysis" in outcome)) continue;
      onAnalysis(outcome.analysis);
      left.delete(content);
    }
  };
  try {
    await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, parseNext));
  } finally {
    await pool.close();
  }
  return [...left];
}
