import type { SourceText } from "./source-text.ts";

/** Nested conditionals, and branches of one, that are looked at. */
const MAX_NESTED = 100;
const MAX_BRANCHES = 50;
/** Longer lines are data. */
const MAX_LINE = 1000;

interface Conditional {
  /** Rows of `#if`, `#elif` and `#else`, each with how many braces its branch leaves open. */
  branches: { row: number; braces: number }[];
  hasElse: boolean;
}

/**
 * Rows to leave out of a C or C++ file so that its braces match: where each branch of a conditional opens the same brace, as several heads
 * of one function do, all branches but the last, with the directives. A parser that reads them all does not find the end of the function.
 */
export function repeatedBranches(source: SourceText): ReadonlySet<number> {
  const rows = new Set<number>();
  const open: Conditional[] = [];
  let isComment = false;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    if (line.length > MAX_LINE) continue;
    const directive = directiveOf(line);
    const current = open.at(-1);
    if (directive === "if") {
      if (open.length >= MAX_NESTED) break;
      open.push({ branches: [{ row, braces: 0 }], hasElse: false });
    } else if (directive === "endif") {
      open.pop();
      const around = open.at(-1)?.branches.at(-1);
      if (around) around.braces += left(current);
      if (current && isRepeated(current)) {
        for (let each = current.branches[0]!.row; each <= current.branches.at(-1)!.row; each++) rows.add(each);
        rows.add(row);
      }
    } else if (directive !== undefined) {
      if (directive === "else" && current) current.hasElse = true;
      if (current && current.branches.length < MAX_BRANCHES) current.branches.push({ row, braces: 0 });
    } else {
      const code = withoutComments(line, isComment);
      isComment = code.isOpen;
      const branch = current?.branches.at(-1);
      if (branch && !/^\s*#/.test(line)) branch.braces += bracesOf(code.text);
    }
  }
  return rows;
}

/** Ends of lines after which a conditional of C# holds whole declarations or statements. */
const ENDS_WHOLE = /[;{}\]]\s*$/;

/**
 * Rows to leave out of a C# file so that no conditional stands within a declaration or statement, which no grammar reads: of those that do, the
 * directives and all branches but the first. `parts` are the rows of all their branches.
 */
export function innerBranches(source: SourceText): { rows: ReadonlySet<number>; parts: ReadonlySet<number> } {
  const [rows, parts] = [new Set<number>(), new Set<number>()];
  /** For each open conditional, whether it stands within something, and is in its first branch. */
  const open: { isInner: boolean; isFirst: boolean }[] = [];
  let isComment = false;
  let isWhole = true;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    if (line.length > MAX_LINE) continue;
    const directive = directiveOf(line);
    if (directive === "if") {
      if (open.length >= MAX_NESTED) break;
      open.push({ isInner: !isWhole, isFirst: true });
    }
    const current = open.at(-1);
    if (current && (directive === "elif" || directive === "else")) current.isFirst = false;
    const isLeftOut = open.some(({ isInner, isFirst }) => isInner && !isFirst);
    if (isLeftOut || (directive !== undefined && current?.isInner === true)) rows.add(row);
    if (open.some(({ isInner }) => isInner)) parts.add(row);
    if (directive === "endif") open.pop();
    if (isLeftOut || /^\s*#/.test(line)) continue;
    const code = withoutComments(line, isComment);
    isComment = code.isOpen;
    if (code.text.trim() !== "") isWhole = ENDS_WHOLE.test(code.text);
  }
  return { rows, parts };
}

/** The directive of a conditional that a line is. */
const directiveOf = (line: string): string | undefined => /^\s*#\s*(if|elif|else|endif)/.exec(line)?.[1];

/** Braces that a conditional leaves open. */
function left(conditional: Conditional | undefined): number {
  const [first] = conditional?.branches ?? [];
  if (!conditional || !first) return 0;
  return isRepeated(conditional) ? first.braces : conditional.branches.reduce((sum, { braces }) => sum + braces, 0);
}

function isRepeated({ branches, hasElse }: Conditional): boolean {
  const [first] = branches;
  return hasElse && first?.braces !== 0 && branches.every(({ braces }) => braces === first?.braces);
}

function withoutComments(line: string, isComment: boolean): { text: string; isOpen: boolean } {
  const end = isComment ? line.indexOf("*/") : 0;
  if (end < 0) return { text: "", isOpen: true };
  const rest = isComment ? line.slice(end + 2) : line;
  let isOpen = false;
  // What is not closed reaches to the end of the line, so that the text after it is read once.
  const text = rest.replaceAll(/"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.){1,8}'|\/\/.*|\/\*[^]*?(?:\*\/|$)/g, (found) => {
    isOpen = found.startsWith("/*") && !(found.length > 3 && found.endsWith("*/"));
    return " ";
  });
  return { text, isOpen };
}

const bracesOf = (text: string): number => text.split("{").length - text.split("}").length;
