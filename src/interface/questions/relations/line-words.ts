/** The identifiers of a line, as far as the text alone tells. */

import { pascalCase } from "../../../engines/parsing/component-names.ts";

/** Identifiers that an error names. */
const MAX_NAMED = 5;
/** Characters behind an identifier in which a parenthesis is looked for. */
const MAX_SPACE = 20;

export interface Word {
  name: string;
  /** Position of its first character and of what follows its last one, 0-based in UTF-16 units. */
  start: number;
  end: number;
  /** Whether a parenthesis follows. */
  isCalled: boolean;
  /** Whether it is named as a part of what stands before it: `a.b`, `a->b`, `a::b`. */
  isMember: boolean;
}

/** The identifiers of a line, in order, and tags with hyphens as the components that they name: `<user-card>` is `UserCard`. Numbers are none. */
export function wordsOf(line: string): Word[] {
  const found: Word[] = [];
  for (const match of line.matchAll(/(?<=<\/?)[a-z]\w*(?:-\w+)+|[\p{L}\p{N}\p{M}_$]+/gu)) {
    const [written] = match;
    if (/^\p{N}/u.test(written)) continue;
    const name = written.includes("-") ? pascalCase(written) : written;
    const [start, end] = [match.index, match.index + written.length];
    const before = line.slice(Math.max(0, start - 2), start);
    const after = line.slice(end, end + MAX_SPACE).trimStart();
    found.push({ name, start, end, isCalled: after.startsWith("("), isMember: /(?:\.|->|::)$/.test(before) });
  }
  return found;
}

/** The identifier at a 1-based column; the one before it where the column is directly behind one, as a cursor may be. */
export function wordAt(words: readonly Word[], column: number): Word | undefined {
  const at = column - 1;
  return words.find(({ start, end }) => start <= at && at < end) ?? words.find(({ end }) => end === at);
}

/** Says where the identifiers of a line are. */
export function wordsText(words: readonly Word[]): string {
  if (words.length === 0) return "the line has no names";
  const named = words.slice(0, MAX_NAMED).map(({ name, start }) => `${name.slice(0, 60)} at ${start + 1}`);
  return `the line has ${named.join(", ")}${words.length > MAX_NAMED ? " and more" : ""}`;
}
