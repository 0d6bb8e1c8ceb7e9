/**
 * What compiling a pattern takes in memory, estimated before it is compiled: the compiler's own limit is on its result, and on the way to
 * it large classes take ten times as much, which is more than a Worker has.
 */
import { PatternError } from "./rust-regex.ts";

/** Rough bytes that a part takes, measured with the compiler: `\w` and `\p{…}` have hundreds of ranges, `\s`, `.` and `[^a]` few. */
const BYTES = { character: 1_000, smallClass: 12_000, middleClass: 50_000, largeClass: 400_000 } as const;
/** Two patterns at once leave room in an isolate. */
const MAX_BYTES = 40_000_000;

/** Throws `PatternError` for a pattern that would take too much memory. In time linear in its length, for any text. */
export function checkCost(pattern: string): void {
  // The cost of each open group or class, and of its last part, which a repetition multiplies.
  const groups: Group[] = [{ before: 0, last: 0, isClass: false }];
  let group = groups[0] as Group;
  const add = (bytes: number): void => {
    group.before += group.last;
    group.last = bytes;
  };
  for (const [part] of pattern.matchAll(PARTS)) {
    const opens = part.startsWith("[") || (part === "(" && !group.isClass);
    if (opens) {
      add(0);
      const isClass = part !== "(";
      groups.push((group = { before: 0, last: baseOf(part), isClass }));
    } else if (part === (group.isClass ? "]" : ")")) {
      const { before, last } = group;
      if (groups.length > 1) groups.pop();
      group = groups.at(-1) as typeof group;
      group.last = before + last;
    } else if (/^\{\d/.test(part) && !group.isClass) group.last *= repetitionsOf(part);
    else add(costOf(part));
  }
  const bytes = groups.reduce((sum, { before, last }) => sum + before + last, 0);
  if (bytes > MAX_BYTES)
    throw new PatternError(
      "would take too much memory compiled; use smaller repetitions, or fewer classes such as \\w and \\p{…}",
    );
}

interface Group {
  before: number;
  last: number;
  /** In square brackets. */
  isClass: boolean;
}

/** An escape, a bracket (`]` opens no class that it is the first member of), a repetition, or a character. */
const PARTS = /\\[pP](?:\{[^{}]*\}|[^{])|\\[^]|[()]|\{\d+(?:,\d*)?\}|\[\^?\]?|[^]/gu;

/** Of an opening bracket; what a class without `^` holds counts by itself. */
function baseOf(part: string): number {
  return part.startsWith("[^") ? BYTES.smallClass : 0;
}

function costOf(part: string): number {
  if (/^\\[pPwW]/.test(part)) return BYTES.largeClass;
  if (/^\\[dDsS]/.test(part)) return BYTES.middleClass;
  return part === "." ? BYTES.smallClass : BYTES.character;
}

/** How often a part is in what is compiled. */
function repetitionsOf(bounds: string): number {
  const [min = 0, max = min] = bounds.slice(1, -1).split(",").map(Number);
  return Math.max(1, min, max);
}
