/** Finds the regular expressions of the sources, and tries each on texts made to let it backtrack. */
import { globSync, readFileSync } from "node:fs";
import { parseAst } from "vite";

export interface FoundExpression {
  /** Path of the source, from the root of the project. */
  file: string;
  source: string;
  flags: string;
}

const ROOT = new URL("../../../", import.meta.url);

/** Every literal regular expression in `src`. */
export function findExpressions(): FoundExpression[] {
  return globSync("src/**/*.ts", { cwd: ROOT.pathname })
    .filter((file) => !file.endsWith(".d.ts"))
    .toSorted()
    .flatMap((file) => {
      const program = parseAst(readFileSync(new URL(file, ROOT), "utf8"), { lang: "ts" });
      const found: FoundExpression[] = [];
      visit(program, (regex) => found.push({ file, source: regex.pattern, flags: regex.flags }));
      return found;
    });
}

function visit(node: unknown, onRegex: (regex: { pattern: string; flags: string }) => void): void {
  if (typeof node !== "object" || node === null) return;
  if ("regex" in node && typeof node.regex === "object") onRegex(node.regex as { pattern: string; flags: string });
  for (const child of Object.values(node)) visit(child, onRegex);
}

const CHARACTERS = " \t\na0A_-./\"'`()[]{}<>=:;,#*\\$%@|+!~&^?é".split("");
/** What follows a repetition of a unit, so that what needs an end does not find it. */
const ENDS = ["\0", "\n\0"];
const MAX_UNITS = 240;

/** Units to repeat: characters, the literal texts of the expression, and both together. */
function unitsOf(source: string): string[] {
  const plain = source
    .replace(/\\[dDwWsSbBpP](?:\{[^}]*\})?/g, "\u{1}")
    .replace(/\\n/g, "\n")
    .replace(/\\t/g, "\t");
  const literals = [...plain.matchAll(/(?:\\[^\w]|[A-Za-z\d <>"'`:;,=@#%&~!\n\t/_-]){2,}/g)].map(([text]) =>
    text.replaceAll("\\", "").slice(0, 24),
  );
  const present = CHARACTERS.filter((character) => source.includes(character) || " a0.\n".includes(character));
  const units = [...CHARACTERS];
  for (const literal of new Set(literals)) {
    units.push(literal);
    for (const character of present) units.push(literal + character, character + literal);
  }
  for (const first of present) for (const second of present) if (first !== second) units.push(first + second);
  return units.slice(0, MAX_UNITS);
}

/** A text, repeated, whose length an expression takes more than linear time in; undefined where none is found. */
export function superlinearUnit({ source, flags }: FoundExpression): string | undefined {
  const expression = new RegExp(source, flags);
  // Without an unbounded quantifier there is nothing to backtrack over.
  if (!/[*+]|,\}/.test(source)) return undefined;
  return unitsOf(source).find((unit) =>
    ENDS.some((end) => {
      const time = (characters: number) => timeOf(expression, unit.repeat(Math.ceil(characters / unit.length)) + end);
      if (time(SHORT) < SUSPECT_MS) return false;
      // Four times the length takes a quadratic one 16 times as long. The least of many, as a busy machine only adds time.
      const least = (characters: number) => Math.min(...Array.from({ length: 8 }, () => time(characters)));
      return least(4 * SHORT) > Math.max(9 * least(SHORT), 4 * SUSPECT_MS);
    }),
  );
}

const SHORT = 1_500;
const SUSPECT_MS = 0.15;

/** Milliseconds to find all matches, or the first one of an expression that is not global. */
function timeOf(expression: RegExp, text: string): number {
  expression.lastIndex = 0;
  const begin = performance.now();
  if (expression.global) text.replace(expression, "");
  else expression.test(text);
  return performance.now() - begin;
}
