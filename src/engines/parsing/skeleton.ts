import { innerBranches, repeatedBranches } from "./branches.ts";
import type { Gap } from "./engine.ts";
import type { SourceText } from "./source-text.ts";

const SPACE = 32;
/** Lines longer than this are left unchanged, to bound the work of each pattern. */
const MAX_LINE = 1000;
/** Number of lines above an opening brace that are searched for the declaration's head. */
const MAX_HEAD_LINES = 30;

/** Blocks with these heads hold declarations; others hold statements. */
const TYPE_HEAD =
  /\b(?:class|interface|namespace|object|trait|impl|extension|protocol|module|mod|record|actor|mixin)\b|\bextern\s+"C/;
/** In C a function may return one of these. */
const RECORD_HEAD = /^[^(]*\b(?:struct|enum|union)\b[^(]*$/;
const OPENS = /\{\s*(?:\/\/.*|\/\*[^*]*\*\/\s*)?$/;

export interface Skeleton {
  units: Uint16Array;
  /** Contents of function bodies, in order. */
  gaps: readonly Gap[];
  /** Where macros were. */
  macros: ReadonlySet<number>;
  /** Rows of conditionals within a declaration or statement, which begin no declaration of their own. */
  parts: ReadonlySet<number>;
  /** Whether a macro before the name of a type or a branch of a conditional was left out. A parser reads these as false declarations. */
  changesDeclarations: boolean;
}

/** What else a language with blocks in braces has: macros as C, or only conditionals as C#. */
export type Preprocessor = "macros" | "conditionals" | "none";

/**
 * Where a file has the contents of function bodies and, in C and C++, its text without apparent macros before or after a
 * declaration, in C# without conditionals within one. What is left can usually be parsed when the whole file cannot. All characters keep
 * their positions.
 *
 * Blocks are recognised by braces and indentation: a block ends at a `}` with the indentation of the line that opened it.
 */
export function skeletonOf(source: SourceText, units: Uint16Array, preprocessor: Preprocessor): Skeleton {
  const hasMacros = preprocessor === "macros";
  const macros = new Set<number>();
  const skeleton = preprocessor === "none" ? units : units.slice();
  const gaps: Gap[] = [];
  const open: { row: number; indent: number; isType: boolean }[] = [];
  const isComment = commentLines();
  const { rows: leftOut, parts } = LEFT_OUT[preprocessor](source);
  for (const row of leftOut) skeleton.fill(SPACE, source.lineStarts[row], source.contentEnd(row));
  let changesDeclarations = leftOut.size > 0;
  let isContinued = false;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    const content = line.trim();
    const isDirective: boolean = isContinued || content.startsWith("#");
    isContinued = isDirective && content.endsWith("\\");
    if (content === "" || line.length > MAX_LINE || isDirective || leftOut.has(row) || isComment(content)) continue;
    const indent = line.length - line.trimStart().length;
    if (content.startsWith("}")) {
      while (open.length > 0 && open.at(-1)!.indent > indent) open.pop();
      const block = open.at(-1);
      if (block?.indent === indent) {
        open.pop();
        if (!block.isType) addGap(gaps, source, block.row + 1, row);
      }
    }
    const inBody = open.some(({ isType }) => !isType);
    if (hasMacros) {
      for (const { start, end, isOfType } of macrosOf(source, row, line, inBody)) {
        changesDeclarations ||= isOfType;
        macros.add(start);
        skeleton.fill(SPACE, start, end);
      }
    }
    if (OPENS.test(content) && open.length < MAX_OPEN)
      open.push({ row, indent, isType: !inBody && isTypeHead(headAt(source, row, { content, indent, leftOut })) });
  }
  return { units: skeleton, gaps, macros, parts, changesDeclarations };
}

/** Tells of the lines of a file in turn whether they are only a comment: code in one opens no block. */
function commentLines(): (content: string) => boolean {
  let isOpen = false;
  return (content) => {
    if (!isOpen && !content.startsWith("/*")) return content.startsWith("//");
    isOpen = !content.includes("*/");
    return isOpen || content.endsWith("*/");
  };
}

/** Rows of conditionals that are left out, and those that are parts of declarations or statements. */
const LEFT_OUT: Readonly<
  Record<Preprocessor, (source: SourceText) => { rows: ReadonlySet<number>; parts: ReadonlySet<number> }>
> = {
  macros: (source) => ({ rows: repeatedBranches(source), parts: new Set() }),
  conditionals: innerBranches,
  none: () => ({ rows: new Set(), parts: new Set() }),
};

/** Adds the rows of a block, which replace those of the blocks in it. */
function addGap(gaps: Gap[], { lineStarts }: SourceText, row: number, endRow: number): void {
  if (row >= endRow) return;
  while (gaps.length > 0 && gaps.at(-1)!.row >= row) gaps.pop();
  gaps.push({ row, endRow, start: lineStarts[row]!, end: lineStarts[endRow]! });
}

/** Deeper nesting is not examined. */
const MAX_OPEN = 100;

function isTypeHead(head: string): boolean {
  return TYPE_HEAD.test(head) || RECORD_HEAD.test(head);
}

/** The lines of a declaration up to its opening brace. */
function headAt(
  source: SourceText,
  row: number,
  { content, indent, leftOut }: { content: string; indent: number; leftOut: ReadonlySet<number> },
): string {
  if (!/^[{)]/.test(content)) return content;
  const lines = [content];
  for (let above = row - 1; above >= Math.max(row - MAX_HEAD_LINES, 0); above--) {
    if (leftOut.has(above)) continue;
    const line = source.line(above);
    if (line.length > MAX_LINE || line.trim() === "" || /[;}]\s*$/.test(line)) break;
    lines.unshift(line.trim());
    // The first line at the brace's own depth begins the declaration.
    if (line.length - line.trimStart().length <= indent) break;
  }
  return lines.join(" ");
}

/** Patterns are not applied to lines longer than this. */
const MAX_MACRO_LINE = 300;

/** `class EXPORT LOCKABLE A`, which is no code of C++ anywhere. */
const TYPE_MACROS =
  /\b(?=[A-Z])(?<=\b(?:class|struct|union|enum)\s+)[A-Z][A-Z0-9_]{2,}(?:\([^()]*\))?(?:\s+[A-Z][A-Z0-9_]{2,}(?:\([^()]*\))?){0,3}(?=\s+[A-Za-z_]\w*\s*(?:[:{<]|final\b|$))/g;

/** One of them. */
const TYPE_MACRO = /[A-Z][A-Z0-9_]{2,}(?:\([^()]*\))?/g;

/** `API int f(void)`, `f(void) const NOTHROW;` and lines of a macro alone, or with the brace of a body whose head is above. */
const MACROS =
  /^\s*[A-Z][A-Z0-9_]{2,}(?:\([^;{}]*\))?$|^\s*[A-Z][A-Z0-9_]{2,}(?=\s*\{$)|\b(?=[A-Z])(?<=^\s*|[>;{}]\s*|\b(?:static|inline|extern|const|friend|virtual|explicit|constexpr|typedef)\s+)[A-Z][A-Z0-9_]{2,}(?:\([^()]*\))?(?=\s+[A-Za-z_][^\s;(){}=*&]*[\s*&]+[A-Za-z_~(*])|\b(?=[A-Z])(?<=\)\s*(?:(?:const|noexcept|override|final|&&?)\s*){0,4})[A-Z][A-Z0-9_]{2,}(?:\((?:[^()]|\([^()]*\))*\))?(?=\s*(?:[;{]|$))/g;

/** `int count GUARDED_BY(mutex);`, as annotations of thread safety are called by convention. */
const FIELD_MACROS =
  /\b(?=[A-Z])(?<=\w\s+)[A-Z_]*(?:GUARDED_BY|ACQUIRED_AFTER|ACQUIRED_BEFORE)\((?:[^()]|\([^()]*\))*\)(?=\s*(?:[;={]|$))/g;

/** `static char *printflike(1, 2)` on the line before a function's name, or before it: numbers are no parameters. */
const FORMAT_MACRO =
  /^\s*(?:[A-Za-z_]\w*\s+|[A-Za-z_]\w*\s*\*\s*|\*\s*){0,6}([A-Za-z_]\w*\(\s*\d{1,3}\s*,\s*\d{1,3}\s*\))(?=\s*$|\s+[A-Za-z_*])/;

/** What follows the head of a function on a line of its own: `LOCKS_EXCLUDED(mutex);`. */
const HEAD_ABOVE = /^(?!\s*(?:\/\/|[#*])).*\)\s*(?:(?:const|noexcept|override|final|&&?)\s*)*$/;
const AFTER_HEAD = /^\s+[A-Z][A-Z0-9_]{2,}(?:\((?:[^()]|\([^()]*\))*\))?(?=\s*(?:[;{]|$))/g;

/** The macro on a line that says which of a function's parameters are a format and its values. */
export function formatMacro(line: string): { index: number; macro: string } | undefined {
  const [head = "", macro] = line.length > MAX_MACRO_LINE ? [] : (FORMAT_MACRO.exec(line) ?? []);
  return macro === undefined ? undefined : { index: head.length - macro.length, macro };
}

interface Macro {
  start: number;
  end: number;
  /** It stands before the name of a type. */
  isOfType: boolean;
}

/** What the names of macros begin with, except those that say what a format is. Most lines have none, and looking for each kind takes long. */
const CAPITALS = /[A-Z][A-Z0-9_]{2}/;

/** The macros of a line; in the body of a function only those before the name of a type. */
function macrosOf(source: SourceText, row: number, line: string, inBody: boolean): Macro[] {
  if (line.length > MAX_MACRO_LINE) return [];
  const content = line.trimEnd();
  const rowStart = source.lineStarts[row]!;
  const placed = (isOfType: boolean) => (found: { index: number; macro: string }) => {
    const end = rowStart + found.index + found.macro.length;
    return { start: end - found.macro.trimStart().length, end, isOfType };
  };
  const format = inBody ? undefined : formatMacro(content);
  const formats = format ? [placed(false)(format)] : [];
  if (!CAPITALS.test(content)) return formats;
  // A macro followed by a body defines a function.
  const next = row + 1 < source.lineCount ? source.line(row + 1).trimStart() : "";
  if (next.startsWith("{") && /^\s*[A-Z][A-Z0-9_]{2,}\(/.test(line)) return [];
  const ofTypes = Array.from(content.matchAll(TYPE_MACROS)).flatMap(({ index, 0: macros }) =>
    Array.from(macros.matchAll(TYPE_MACRO), ({ index: within, 0: macro }) => ({ index: index + within, macro })),
  );
  if (inBody) return ofTypes.map(placed(true));
  const above = row > 0 ? source.line(row - 1) : "";
  const isAfterHead = above.length <= MAX_MACRO_LINE && HEAD_ABOVE.test(above);
  const others = [MACROS, FIELD_MACROS, ...(isAfterHead ? [AFTER_HEAD] : [])].flatMap((pattern) =>
    Array.from(content.matchAll(pattern), ({ index, 0: macro }) => ({ index, macro })),
  );
  return [...ofTypes.map(placed(true)), ...others.map(placed(false)), ...formats];
}
