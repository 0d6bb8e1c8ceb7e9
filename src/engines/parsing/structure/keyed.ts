import type { SourceText } from "../source-text.ts";
import type { Outline } from "../types.ts";
import { matched, OutlineBuilder } from "./outline-builder.ts";

const HASH_COMMENT = /^\s*#/;
const MAX_INDENT_LEVEL = 60;

/** Cuts by indentation: the less a row is indented the better, closing brackets stay with what they close. */
function indentLevels(builder: OutlineBuilder): void {
  const { source, levels } = builder;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    const content = line.trimStart();
    if (content === "") continue;
    const indent = Math.min(line.length - content.length, MAX_INDENT_LEVEL);
    levels[row] = 1 + indent + (/^[)\]}]/.test(content) ? 30 : 0);
  }
}

const YAML_KEY = /^(\s*)((?:"[^"]*"|'[^']*'|[^\s#\-:,[\]{}"'][^:#]*|[^\s#\-:,[\]{}"'][^#]*?[^\s#:]))\s*:(?=\s|$)/;

/** Keys of the first two depths of a YAML file. */
export function yamlOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  indentLevels(builder);
  const keys: { row: number; indent: number; name: string }[] = [];
  const ends: number[] = [];
  let childIndent: number | undefined;
  let scalarIndent: number | undefined;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    const indent = line.length - line.trimStart().length;
    if (line.trim() === "") continue;
    if (scalarIndent !== undefined && indent > scalarIndent) continue;
    scalarIndent = undefined;
    if (HASH_COMMENT.test(line)) continue;
    if (/[|>][+-]?\d?\s*(?:#.*)?$/.test(matched(line))) scalarIndent = indent;
    if (indent === 0) {
      childIndent = undefined;
      ends.push(row);
    }
    const match = YAML_KEY.exec(matched(line));
    if (match === null) {
      if (indent > 0) childIndent ??= -1;
      continue;
    }
    if (indent > 0) childIndent ??= indent;
    if (indent === 0 || indent === childIndent) keys.push({ row, indent, name: match[2]!.replace(/^["']|["']$/g, "") });
  }
  let parent: number | null = null;
  let nextEnd = 0;
  for (const [position, key] of keys.entries()) {
    while (nextEnd < ends.length && ends[nextEnd]! <= key.row) nextEnd++;
    const boundary = ends[nextEnd] ?? source.lineCount;
    const sibling = key.indent === 0 ? boundary : Math.min(keys[position + 1]?.row ?? boundary, boundary);
    const comment = builder.commentAbove(key.row, HASH_COMMENT);
    const endRow = trailingComments(source, key.row, sibling - 1);
    const index = builder.add({
      kind: "key",
      name: key.name,
      startRow: key.row,
      endRow,
      parent: key.indent === 0 ? null : parent,
      ...comment,
    });
    if (key.indent === 0) parent = index;
  }
  return builder.finish();
}

/** Comments at the end of a section lead the next one. */
function trailingComments(source: SourceText, startRow: number, endRow: number): number {
  let last = endRow;
  while (last > startRow && (source.isBlank(last) || HASH_COMMENT.test(source.line(last)))) last--;
  return last;
}

const TOML_TABLE = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/;
const TOML_KEY = /^([\w-]+(?:\.[\w-]+)*|"[^"]*"|'[^']*')\s*=/;

/** Tables of a TOML file, and the keys before the first. */
export function tomlOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  const sections: { row: number; name: string; isTable: boolean }[] = [];
  let inTable = false;
  let multiline: string | undefined;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    if (multiline !== undefined) {
      builder.levels[row] = 90;
      if (line.includes(multiline)) multiline = undefined;
      continue;
    }
    const table = TOML_TABLE.exec(matched(line));
    if (table !== null) {
      inTable = true;
      builder.levels[row] = 1;
      sections.push({ row, name: table[1]!, isTable: true });
      continue;
    }
    const key = TOML_KEY.exec(matched(line));
    if (key !== null && !inTable) sections.push({ row, name: key[1]!.replace(/^["']|["']$/g, ""), isTable: false });
    const quotes = /("""|''')/.exec(line)?.[1];
    if (quotes !== undefined && line.split(quotes).length === 2) multiline = quotes;
  }
  for (const [position, section] of sections.entries()) {
    const next = sections[position + 1]?.row ?? source.lineCount;
    const comment = builder.commentAbove(section.row, HASH_COMMENT);
    const endRow = trailingComments(source, section.row, next - 1);
    builder.add({
      kind: section.isTable ? "table" : "key",
      name: section.name,
      startRow: section.row,
      endRow,
      ...comment,
    });
  }
  return builder.finish();
}

/** Keys of the outermost object of a JSON file; comments and trailing commas are allowed. */
export function jsonOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  indentLevels(builder);
  const { text } = source;
  const token = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[{}[\],]|:/g;
  const closers: string[] = [];
  let lastString: { value: string; at: number } | undefined;
  let key: { value: string; at: number } | undefined;
  const close = (offset: number): void => {
    if (key === undefined) return;
    const row = source.rowAt(key.at);
    builder.add({ kind: "key", name: key.value, startRow: row, endRow: source.rowAt(Math.max(offset - 1, key.at)) });
    key = undefined;
  };
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [mark] = match;
    if (mark.startsWith("/")) continue;
    const outermost = closers.length === 1 && closers[0] === "}";
    if (mark === "{" || mark === "[") closers.push(mark === "{" ? "}" : "]");
    else if (mark === "}" || mark === "]") {
      if (outermost) close(match.index);
      closers.pop();
    } else if (outermost && mark === ",") close(match.index);
    else if (outermost && mark === ":" && key === undefined) key = lastString;
    else if (mark.startsWith('"')) lastString = { value: mark.slice(1, -1), at: match.index };
  }
  return builder.finish();
}
