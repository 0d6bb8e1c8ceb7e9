/** Reads the places that an answer of a tool names or shows out of its text. */

export interface ShownPlace {
  path: string;
  line: number;
  /** The line itself is shown, not only its number. */
  isText: boolean;
}

/** `path:12-30`, `path:12` or `path` at the beginning of a line; the numbered lines below it are the file's. */
const HEADING = /^\s{0,4}([\w./@+-]+\.\w+|[\w./-]+\/[\w.-]+)(?::(\d+)(?:-\d+)?)?(?=$|\s|,|:)/;
const NUMBERED = /^\s*(\d+)(?:-\d+)?(?:\s|$)/;
/** `path: 3, 8, 12`, the short form of lines in a file. */
const LISTED = /^[\w./@+-]+: ((?:\d+(?:, )?)+)$/;

/** Every line that the answer shows or names, in its order. */
export function placesIn(answer: string): ShownPlace[] {
  const places: ShownPlace[] = [];
  let path = "";
  for (const text of answer.split("\n")) {
    const numbered = NUMBERED.exec(text);
    if (numbered) {
      if (path !== "") places.push({ path, line: Number(numbered[1]), isText: true });
      continue;
    }
    const heading = HEADING.exec(text);
    if (!heading) continue;
    path = heading[1] ?? "";
    if (heading[2] !== undefined) places.push({ path, line: Number(heading[2]), isText: false });
    for (const line of LISTED.exec(text)?.[1]?.split(", ") ?? [])
      places.push({ path, line: Number(line), isText: false });
  }
  return places;
}

/** Whether a place lies in `path:from-to`, where `*` stands for any part of the path. */
export function showsRange(range: string): (place: ShownPlace) => boolean {
  const [, path = "", from, to] = /^(.*):(\d+)-(\d+)$/.exec(range) ?? [];
  const [before = "", after] = path.split("*");
  return (place) =>
    place.line >= Number(from) &&
    place.line <= Number(to) &&
    (after === undefined ? place.path === path : place.path.startsWith(before) && place.path.endsWith(after));
}
