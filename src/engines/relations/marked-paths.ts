/**
 * Paths of files in a question that is asked of one repository: its own files go by their paths, those of other repositories by paths that begin
 * with the number of their revision.
 */

/** No path of git has this character. */
const MARK = "\0";

/** The path that a file of a revision has in a question about the revision `asked`. */
export function pathFrom(asked: number, { revision, path }: { revision: number; path: string }): string {
  return revision === asked ? path : `${MARK}${revision}/${path}`;
}

/** The inverse of {@link pathFrom}: the revision of a file, and its path there. */
export function placeIn(asked: number, path: string): { revision: number; path: string } {
  const { mark, own } = splitMark(path);
  return { revision: mark === "" ? asked : Number(mark.slice(MARK.length, -1)), path: own };
}

/** The mark of a path, and the path in its own repository. The mark is empty in the repository that is asked. */
export function splitMark(path: string): { mark: string; own: string } {
  if (!path.startsWith(MARK)) return { mark: "", own: path };
  const end = path.indexOf("/") + 1;
  return { mark: path.slice(0, end), own: path.slice(end) };
}
