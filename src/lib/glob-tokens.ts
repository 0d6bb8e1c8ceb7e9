/** The tokens of a glob. */

/** `[…]` of a glob. */
export interface CharacterClass {
  negated: boolean;
  /** Inclusive ranges of code points. */
  ranges: [from: number, to: number][];
}

export type Token =
  | { kind: "character"; code: number }
  | { kind: "any" }
  | { kind: "star" }
  | { kind: "globstar"; thenSlash: boolean }
  | { kind: "class"; set: CharacterClass }
  | { kind: "open" | "comma" | "close"; code: number };

export const SLASH = 47;
const code = (character: string): number => character.codePointAt(0) ?? 0;

/** Splits a pattern into tokens. Braces and commas outside of an alternative are literal. */
export function tokenize(pattern: string): Token[] {
  const characters = Array.from(pattern);
  const lastBracket = characters.lastIndexOf("]");
  const tokens: Token[] = [];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    const next = characters[i + 1];
    if (character === "\\" && next !== undefined) {
      tokens.push({ kind: "character", code: code(next) });
      i++;
    } else if (character === "*") {
      let end = i;
      while (characters[end + 1] === "*") end++;
      if (end === i) tokens.push({ kind: "star" });
      else {
        const thenSlash = characters[end + 1] === "/";
        const last = tokens.at(-1);
        // `**/**/` matches what `**/` does.
        const isRepeated = thenSlash && last?.kind === "globstar" && last.thenSlash;
        if (!isRepeated) tokens.push({ kind: "globstar", thenSlash });
        if (thenSlash) end++;
      }
      i = end;
    } else if (character === "?") tokens.push({ kind: "any" });
    else if (character === "[") {
      // Without the check, each of many unclosed brackets would be looked for to the end.
      const read = i < lastBracket ? readClass(characters, i) : undefined;
      if (read) {
        tokens.push({ kind: "class", set: read.set });
        i = read.end;
      } else tokens.push({ kind: "character", code: code(character) });
    } else if (character === "{") tokens.push({ kind: "open", code: code(character) });
    else if (character === ",") tokens.push({ kind: "comma", code: code(character) });
    else if (character === "}") tokens.push({ kind: "close", code: code(character) });
    else tokens.push({ kind: "character", code: code(character) });
  }
  return resolveBraces(tokens);
}

/** Reads `[…]` from its opening bracket; undefined if it is not closed. A `]` in first place is a member. */
function readClass(characters: readonly string[], start: number): { set: CharacterClass; end: number } | undefined {
  let i = start + 1;
  const negated = characters[i] === "!" || characters[i] === "^";
  if (negated) i++;
  const close = characters.indexOf("]", i + 1);
  if (close < 0) return undefined;
  const set: CharacterClass = { negated, ranges: [] };
  while (i < close) {
    const from = code(characters[i] ?? "");
    const isRange = characters[i + 1] === "-" && i + 2 < close;
    set.ranges.push([from, isRange ? code(characters[i + 2] ?? "") : from]);
    i += isRange ? 3 : 1;
  }
  return { set, end: close };
}

/** Turns braces without a partner or a comma, and commas outside of braces, into literal characters. */
function resolveBraces(tokens: readonly Token[]): Token[] {
  const syntax = new Set<number>();
  const open: { at: number; commas: number[] }[] = [];
  for (const [at, { kind }] of tokens.entries()) {
    if (kind === "open") open.push({ at, commas: [] });
    else if (kind === "comma") open.at(-1)?.commas.push(at);
    else if (kind === "close") {
      const group = open.pop();
      if (group && group.commas.length > 0) for (const index of [group.at, ...group.commas, at]) syntax.add(index);
    }
  }
  return tokens.map((token, at) =>
    (token.kind === "open" || token.kind === "comma" || token.kind === "close") && !syntax.has(at)
      ? { kind: "character", code: token.code }
      : token,
  );
}

/** No class matches `/`. */
export function isInClass({ negated, ranges }: CharacterClass, code: number): boolean {
  return code !== SLASH && ranges.some(([from, to]) => from <= code && code <= to) !== negated;
}
