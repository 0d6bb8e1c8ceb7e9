import type { TextLine } from "./pack.ts";

/** What stands at the top of files and tells little: licences, imports, the name of the package. */

/** A line that begins an import. */
export const IMPORT = /^\s{0,200}(?:import|from|#include|use|using|require|package|alias)\b/;
/** Other lines before the first declaration. */
const BEFORE_CODE =
  /^\s{0,200}(?:#pragma\b|#ifndef\s|#define\s+\w{1,100}$|namespace\s+[\w.\\]{1,200};|extern crate\b|<\?php$|(?:const|let|var)\s.{1,200}=\s{0,9}require\(|["']use \w{1,20}["'];?$)/;
const LICENCE = /copyright|licen[cs]e|spdx-/i;
const MAX_IMPORT_LINES = 200;
const OPENS = /[({]\s{0,9}$/;
const CLOSES = /^\s{0,200}[)}]/;

/** Index of the first of the lines that tells something: code, the comment directly above it, or a comment that matches; 0 if none does. */
export function endOfHeader(lines: readonly TextLine[]): number {
  let at = 0;
  while (at < lines.length) {
    const from = at;
    const line = lines[at] as TextLine;
    if (line.text.trim() === "") at++;
    else if (line.isCode) {
      if (!isBeforeCode(line)) return from;
      at = endOfImport(lines, at);
    } else {
      while (at < lines.length && isComment(lines[at] as TextLine)) at++;
      const own = lines.slice(from, at);
      const isLicence = own.some(({ text }) => LICENCE.test(text));
      const below = lines[at];
      const isAttached = below?.isCode === true && !isBeforeCode(below);
      if (!isLicence && (isAttached || own.some(({ strength }) => strength > 0))) return from;
    }
  }
  return 0;
}

const isBeforeCode = ({ text }: TextLine): boolean => IMPORT.test(text) || BEFORE_CODE.test(text);
const isComment = ({ text, isCode }: TextLine): boolean => !isCode && text.trim() !== "";

/** Index behind an import, which may have a list in brackets over several lines. */
function endOfImport(lines: readonly TextLine[], at: number): number {
  if (!OPENS.test(lines[at]?.text ?? "")) return at + 1;
  const end = lines.slice(at + 1, at + 1 + MAX_IMPORT_LINES).findIndex(({ text }) => CLOSES.test(text));
  return end < 0 ? at + 1 : at + 1 + end + 1;
}
