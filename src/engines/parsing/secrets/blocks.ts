/** Secrets in a block whose name says what its values are, whatever their own names are: `credentials = { reader = "…" }`, `secrets:` in YAML. */
import type { Place } from "./nearby.ts";

/** The beginning of a block behind its name, also behind a type or a call. */
const OPENS =
  /["'`\])]{0,2}(?:[ \t]{0,4}(?::=|=>|[:=])[ \t]{0,4}(?:[A-Za-z_][\w.<>, [\]]{0,40})?)?[ \t]{0,4}(?:\r?\n[ \t]{0,20})?(?=[{[])/y;
const MAX_CHARACTERS = 1_000;
const MAX_VALUES = 24;
/** A value with its key, or one of a list. A group for the key, one for a quoted value, one for one without quotes. */
const ENTRY =
  /(?:(?<![\w.@-])([\w.@-]{1,60})["'`]?\s{0,8}(?:=>|[:=])\s{0,8}|(?<=[[,{])\s{0,20})(?:["'`]([^\s"'`\\]{8,256})["'`]|([\w!#%&*+./?@^~-]{8,100}={0,2})(?=\s{0,8}[\n,}]))/g;
/** What the keys of other values end with. */
const OTHER_KEY =
  /(?:name|user|login|e?mail|host|port|url|uri|path|file|type|kind|id|ids|desc|description|label|title|text|message|version|region|role|ref|from|scope|scopes|algorithm|alg|issuer|audience|provider|format|format|date|at|model|image|hash|sha\d*|digest|checksum|class|example)$/i;

/** The values of the block that begins behind a name, and where it ends; none if no block does. */
export function valuesInBlock(text: string, from: number): { places: Place[]; end: number } {
  OPENS.lastIndex = from;
  if (OPENS.test(text)) {
    const end = closingAt(text, OPENS.lastIndex);
    return { places: entries(text, OPENS.lastIndex, end), end };
  }
  YAML_OPENS.lastIndex = from;
  return YAML_OPENS.test(text) ? indented(text, from, YAML_OPENS.lastIndex) : { places: [], end: from };
}

/** Where a bracket is closed, within the maximum. */
function closingAt(text: string, open: number): number {
  const end = Math.min(text.length, open + MAX_CHARACTERS);
  let depth = 0;
  for (let at = open; at < end; at++) {
    const character = text[at]!;
    if ("{[(".includes(character)) depth++;
    else if ("}])".includes(character) && --depth === 0) return at + 1;
  }
  return end;
}

function entries(text: string, start: number, end: number): Place[] {
  const places: Place[] = [];
  for (const { 0: whole, 1: key, 2: quoted, 3: bare, index } of text.slice(start, end).matchAll(ENTRY)) {
    const value = quoted ?? bare ?? "";
    if (places.length === MAX_VALUES) break;
    if (key !== undefined && OTHER_KEY.test(key)) continue;
    if (quoted === undefined && key === undefined) continue;
    places.push({ start: start + index + whole.length - value.length - (quoted === undefined ? 0 : 1), text: value });
  }
  return places;
}

const YAML_OPENS = /["']?:[ \t]{0,8}(?:#[^\n]{0,80})?\r?\n/y;
const YAML_ENTRY =
  /^([ \t]{0,60})(?:- )?(?:["']?([\w.@-]{1,60})["']?:[ \t]{1,8})?["']?([^\s"'#&*!|>{[][^\s"']{7,255})["']?[ \t]{0,8}\r?$/;

/** The values of the lines that are indented further than a line. */
function indented(text: string, name: number, from: number): { places: Place[]; end: number } {
  const places: Place[] = [];
  const lineStart = text.lastIndexOf("\n", name) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart, Math.min(name, lineStart + 60)))![0].length;
  let at = from;
  for (const line of text.slice(from, from + MAX_CHARACTERS).split("\n")) {
    const start = at;
    at += line.length + 1;
    if (line.trim() === "") continue;
    if (line.length - line.trimStart().length <= indent || places.length === MAX_VALUES) break;
    const [, , key, value] = YAML_ENTRY.exec(line) ?? [];
    if (value === undefined || (key !== undefined && OTHER_KEY.test(key))) continue;
    places.push({ start: start + line.lastIndexOf(value), text: value });
  }
  return { places, end: at };
}
