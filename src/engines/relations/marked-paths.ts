/** Paths of files in other repositories than the one that is asked: they begin with the number of their revision. */

/** No path of git has this character. */
const MARK = "\0";

export const markedPath = (revision: number, path: string): string => `${MARK}${revision}/${path}`;

/** The mark of a path, and the path in its own repository. The mark is empty in the repository that is asked. */
export function splitMark(path: string): { mark: string; own: string } {
  if (!path.startsWith(MARK)) return { mark: "", own: path };
  const end = path.indexOf("/") + 1;
  return { mark: path.slice(0, end), own: path.slice(end) };
}

/** The revision of a marked path; undefined for a path of the repository that is asked. */
export function revisionOfPath(path: string): number | undefined {
  return path.startsWith(MARK) ? Number(path.slice(MARK.length, path.indexOf("/"))) : undefined;
}
