/** The Ruby in templates of ERB: `<% … %>`, `<%= … %>` and their variants. */
import { blankOf, SEMICOLON } from "./statements.ts";

/** The Ruby of a template as a program: offsets and rows are as they are, the rest is blank, and each tag ends a statement. */
export function rubyOf(text: string, units: Uint16Array): Uint16Array {
  const program = blankOf(units);
  // `<%%` is text, `<%#` a comment.
  const opening = /<%([%#]|[-=]{0,2})/g;
  for (let found = opening.exec(text); found; found = opening.exec(text)) {
    if (found[1] === "%") continue;
    const close = text.indexOf("%>", opening.lastIndex);
    if (close < 0) break;
    if (found[1] !== "#") {
      const start = opening.lastIndex;
      const end = Math.max(start, text[close - 1] === "-" ? close - 1 : close);
      program.set(units.subarray(start, end), start);
      program[end] = SEMICOLON;
    }
    opening.lastIndex = close + 2;
  }
  return program;
}
