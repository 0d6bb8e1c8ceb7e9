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

/** Every literal regular expression in `src`, and how many calls of `RegExp` each file has. */
export function findExpressions(): { literals: FoundExpression[]; calls: Record<string, number> } {
  const literals: FoundExpression[] = [];
  const calls: Record<string, number> = {};
  for (const file of globSync("src/**/*.{ts,tsx}", { cwd: ROOT.pathname }).toSorted()) {
    if (file.endsWith(".d.ts")) continue;
    const program = parseAst(readFileSync(new URL(file, ROOT), "utf8"), { lang: file.endsWith("x") ? "tsx" : "ts" });
    visit(program, (node) => {
      if ("regex" in node) {
        const { pattern, flags } = node.regex as { pattern: string; flags: string };
        literals.push({ file, source: pattern, flags });
      } else if ((node.type === "NewExpression" || node.type === "CallExpression") && isRegExp(node.callee)) {
        calls[file] = (calls[file] ?? 0) + 1;
      }
    });
  }
  return { literals, calls };
}

/** Whether an expression is `RegExp`, alone or as a property such as `globalThis.RegExp`. */
function isRegExp(callee: unknown): boolean {
  if (typeof callee !== "object" || callee === null) return false;
  const { name, property } = callee as { name?: unknown; property?: unknown };
  return name === "RegExp" || isRegExp(property);
}

interface SyntaxNode {
  type?: string;
  regex?: unknown;
  callee?: unknown;
}

function visit(node: unknown, onNode: (node: SyntaxNode) => void): void {
  if (typeof node !== "object" || node === null) return;
  onNode(node);
  for (const child of Object.values(node)) visit(child, onNode);
}

export interface BuiltExpression extends FoundExpression {
  /** Line and column of the call. */
  place: string;
}

/** Runs `body` and returns the regular expressions that it builds with calls of `RegExp` in `src`. */
export async function recordBuilt(body: () => unknown): Promise<BuiltExpression[]> {
  const built: BuiltExpression[] = [];
  const original = globalThis.RegExp;
  const record = (expression: RegExp): RegExp => {
    // The frames: this function, the proxy's handler, the caller.
    const caller = new Error().stack?.split("\n")[3] ?? "";
    const [, file, place] = /\/(src\/[^\s:?]+)[^:]*:(\d+:\d+)/.exec(caller) ?? [];
    if (file !== undefined && place !== undefined && !caller.includes("node_modules"))
      built.push({ file, place, source: expression.source, flags: expression.flags });
    return expression;
  };
  globalThis.RegExp = new Proxy(original, {
    construct: (_target, args: [string, string?]) => record(new original(...args)),
    apply: (_target, _this, args: [string, string?]) => record(original(...args)),
  });
  try {
    await body();
  } finally {
    globalThis.RegExp = original;
  }
  return built;
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
