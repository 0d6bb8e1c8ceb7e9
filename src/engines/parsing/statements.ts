const NEWLINE = 10;

/** Writes the end of a statement into a text that is blank there, over what is not a line break. */
export function endStatement(text: Uint16Array, end: number, units: readonly number[]): void {
  let at = end;
  for (const unit of units) {
    while (text[at] === NEWLINE) at++;
    if (at < text.length) text[at++] = unit;
  }
}
