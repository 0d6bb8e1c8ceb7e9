/** Headings of reStructuredText, AsciiDoc, Org, LaTeX, Typst and RDoc. */
import type { LanguageId } from "../languages.ts";
import type { SourceText } from "../source-text.ts";
import type { Outline } from "../types.ts";
import { type Heading, headingOutline, MAX_DEPTH } from "./headings.ts";
import { matched, OutlineBuilder } from "./outline-builder.ts";

/** The headings of a file, from the top. */
type Scan = (source: SourceText) => Heading[];

/** Headings of one line. The groups of `pattern` are the mark and the title; `depths` has the depth of each mark, which is its length otherwise. */
function byLines(pattern: RegExp, depths?: ReadonlyMap<string, number>): Scan {
  return (source) => {
    const headings: Heading[] = [];
    for (let row = 0; row < source.lineCount; row++) {
      const [, mark, title] = pattern.exec(matched(source.line(row))) ?? [];
      if (mark === undefined || title === undefined) continue;
      headings.push({ row, depth: Math.min(depths?.get(mark) ?? mark.length, MAX_DEPTH), title });
    }
    return headings;
  };
}

const RST_UNDERLINE = /^([=\-`:'"~^_*+#<>.])\1{2,}\s*$/;

/** A title is underlined with one sign, and may be overlined too. Depths follow the order in which the signs first occur. */
const restructured: Scan = (source) => {
  const headings: Heading[] = [];
  const signs: string[] = [];
  const lineAt = (row: number): string => (row < 0 ? "" : matched(source.line(row)).trimEnd());
  for (let row = 0; row + 1 < source.lineCount; row++) {
    const title = lineAt(row);
    const under = lineAt(row + 1);
    const sign = RST_UNDERLINE.exec(under)?.[1];
    if (sign === undefined || title.trim() === "" || RST_UNDERLINE.test(title)) continue;
    if (under.length < title.trim().length) continue;
    const isOver = lineAt(row - 1) === under;
    if (!isOver && (/^\s|^\.\. /.test(title) || lineAt(row - 1) !== "")) continue;
    const kind = isOver ? `${sign}${sign}` : sign;
    if (!signs.includes(kind)) signs.push(kind);
    const plain = title.trim().replace(/:[\w:+.-]{1,60}:`([^`]{0,200})`/g, "$1");
    headings.push({ row, depth: Math.min(signs.indexOf(kind) + 1, MAX_DEPTH), title: plain });
  }
  return headings;
};

/** Lines that begin and end a block, whose content has no headings. */
const ASCIIDOC_BLOCK = /^(?:-{4,}|\.{4,}|={4,}|\*{4,}|\+{4,}|_{4,}|\/{4,}|`{3,}|\|={3,})\s*$/;
const ASCIIDOC_SIGNS = "=-~^+";
/** Characters that a title and the line below it may differ by. */
const ASCIIDOC_TOLERANCE = 2;

const asciidoc: Scan = (source) => {
  const headings: Heading[] = [];
  let block: string | undefined;
  for (let row = 0; row < source.lineCount; row++) {
    const line = matched(source.line(row)).trimEnd();
    if (block !== undefined) {
      if (line === block) block = undefined;
      continue;
    }
    const under = row + 1 < source.lineCount ? matched(source.line(row + 1)).trimEnd() : "";
    const isAlone = row === 0 || source.isBlank(row - 1) || source.line(row - 1).startsWith("[");
    const depth = ASCIIDOC_SIGNS.indexOf(under.charAt(0)) + 1;
    if (isAlone && depth > 0 && /^([=\-~^+])\1{2,}$/.test(under) && isTitleOver(line, under)) {
      headings.push({ row, depth, title: line });
      row++;
    } else if (ASCIIDOC_BLOCK.test(line)) block = line;
    else {
      const [, mark, title] = /^([=#]{1,6})\s+(\S.*)$/.exec(line) ?? [];
      if (mark !== undefined && title !== undefined) headings.push({ row, depth: mark.length, title });
    }
  }
  return headings;
};

const isTitleOver = (line: string, under: string): boolean =>
  /^[\p{L}\p{N}"'`{(]/u.test(line) && Math.abs(line.length - under.length) <= ASCIIDOC_TOLERANCE;

const SCANS: Partial<Record<LanguageId, Scan>> = {
  rst: restructured,
  asciidoc,
  org: byLines(/^(\*{1,8})\s+(?:(?:TODO|DONE)\s+)?(\S.*?)(?:\s+:[\w@:]{1,100}:)?\s*$/),
  latex: byLines(
    /^\s*\\((?:sub){0,2}section|part|chapter|paragraph)\*?(?:\[[^\]]{0,200}\])?\{([^{}]{1,200})/,
    new Map([
      ["part", 1],
      ["chapter", 2],
      ["section", 3],
      ["subsection", 4],
      ["subsubsection", 5],
      ["paragraph", 6],
    ]),
  ),
  typst: byLines(/^(={1,6})\s+(\S.*)$/),
  rdoc: byLines(/^(={1,6})\s*([^\s=].*)$/),
};

/** Headings are symbols that reach to the next of their depth. */
export function proseOutline(language: LanguageId, source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  const headings = SCANS[language]?.(source) ?? [];
  for (const { row, depth } of headings) builder.levels[row] = depth;
  return headingOutline(builder, headings);
}
