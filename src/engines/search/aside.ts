import type { SearchIndex } from "./search-index.ts";
import { isAside } from "./traits.ts";

/** What is known of each file of open indexes: 0 nothing yet, 1 a source, 2 aside. */
const known = new WeakMap<SearchIndex, Uint8Array>();

/** Tells whether look-ups list a file of an index after the sources. */
export function asideIn(index: SearchIndex): (file: number) => boolean {
  const files = known.get(index) ?? new Uint8Array(index.fileCount);
  known.set(index, files);
  return (file) => {
    files[file] ||= isAside(index.path(file), index.traits[file] as number) ? 2 : 1;
    return files[file] === 2;
  };
}
