/** What the readers of code in markup share. They keep offsets and rows: what is not code becomes blank. */

export const SPACE = 32;
export const NEWLINE = 10;
export const SEMICOLON = 59;
export const UNDERSCORE = 95;
export const NEGATION = 33;

/** A text of the same lines in which everything is blank. */
export const blankOf = (units: Uint16Array): Uint16Array => units.map((unit) => (unit === NEWLINE ? NEWLINE : SPACE));

/** Writes the end of a statement into a text that is blank there, over what is not a line break. */
export function endStatement(text: Uint16Array, end: number, units: readonly number[]): void {
  let at = end;
  for (const unit of units) {
    while (text[at] === NEWLINE) at++;
    if (at < text.length) text[at++] = unit;
  }
}

/** The end of what a pattern with `y` matches at a place; the place itself if it does not match. */
export function skip(text: string, at: number, pattern: RegExp): number {
  // From behind the end a pattern would begin at the start again.
  const from = Math.min(at, text.length);
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

/** Where a text is found, else the end. */
export function find(text: string, sought: string, from: number): number {
  const at = text.indexOf(sought, from);
  return at < 0 ? text.length : at;
}
