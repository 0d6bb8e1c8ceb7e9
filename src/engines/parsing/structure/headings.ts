/** Headings of a document, as the symbols that they are. */
import type { Outline } from "../types.ts";
import type { OutlineBuilder } from "./outline-builder.ts";

export const MAX_DEPTH = 6;

export interface Heading {
  row: number;
  /** 1 to 6. */
  depth: number;
  title: string;
}

/** Adds headings as symbols that reach to the next of their depth. */
export function headingOutline(builder: OutlineBuilder, headings: readonly Heading[]): Outline {
  const ends = sectionEnds(headings, builder.source.lineCount);
  const open: { depth: number; index: number | null }[] = [];
  for (const [position, heading] of headings.entries()) {
    while (open.length > 0 && open.at(-1)!.depth >= heading.depth) open.pop();
    const index = builder.add({
      kind: "heading",
      name: plainTitle(heading.title),
      startRow: heading.row,
      endRow: ends[position]! - 1,
      parent: open.at(-1)?.index ?? null,
      separator: " > ",
      signature: heading.title,
    });
    open.push({ depth: heading.depth, index });
  }
  return builder.finish();
}

/** For each heading the row of the next one that is no deeper. */
function sectionEnds(headings: readonly Heading[], lineCount: number): number[] {
  const ends: number[] = [];
  const nextOfDepth = Array.from({ length: MAX_DEPTH + 1 }, () => lineCount);
  for (let index = headings.length - 1; index >= 0; index--) {
    const { depth, row } = headings[index]!;
    ends[index] = nextOfDepth[depth]!;
    for (let deeper = depth; deeper <= MAX_DEPTH; deeper++) nextOfDepth[deeper] = row;
  }
  return ends;
}

/** A title without its inline marks: links by their text, code and emphasis bare. */
export function plainTitle(title: string): string {
  return title
    .replace(/!?\[([^\]]{0,1000})\]\([^)]{0,1000}\)/g, "$1")
    .replace(/<[^>]{1,1000}>/g, "")
    .replace(/[`*]+|(?<=^|\s)_+|_+(?=\s|$)/g, "")
    .trim();
}
