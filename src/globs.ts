/**
 * Path globs with .gitignore semantics. Matching takes at most pattern × path steps for any input (`glob-automaton.ts`).
 *
 * | Syntax   | Matches                                                              |
 * | -------- | -------------------------------------------------------------------- |
 * | `*`      | any characters but `/`                                               |
 * | `?`      | one character but `/`                                                |
 * | `**`     | any characters, `/` included; a segment `**` also matches no folder  |
 * | `[a-z]`  | one character of the class; `[!a-z]` and `[^a-z]` one outside of it  |
 * | `{a,b}`  | either; alternatives may be nested and hold other syntax             |
 * | `\*`     | the character itself                                                 |
 *
 * A glob without `/` matches in any folder, one with a leading `/` from the root only. A glob that matches a folder matches
 * everything below it; a trailing `/` matches folders only. A leading `!` negates. Everything else, such as parentheses, is literal.
 */
import { Automaton, tokenize } from "./glob-automaton.ts";

/** Whether the globs select a path. Paths start at the root and use `/` between segments. */
export type PathFilter = (path: string) => boolean;

/**
 * Compiles a list of globs. The last glob that matches a path decides: a plain one selects it, one with a leading `!` drops it.
 * A path that no glob matches is dropped, unless the list begins with `!`: then `otherwise` decides (default: select).
 */
export function compileGlobs(globs: readonly string[], otherwise: PathFilter = () => true): PathFilter {
  const compiled = globs.map((glob) => {
    const negated = glob.startsWith("!");
    return { negated, matches: compilePattern(negated ? glob.slice(1) : glob) };
  });
  const fallback = compiled[0]?.negated === true ? otherwise : () => false;
  return (path) => {
    const last = compiled.findLast(({ matches }) => matches(path));
    return last ? !last.negated : fallback(path);
  };
}

/**
 * Compiles the text of an ignore file, in `.gitignore` syntax; case does not count. The result gives the verdict of the last line
 * that matches the path itself (without a `/` at its end): true for ignored, false for a line with `!`, undefined without any.
 * The caller has to skip the contents of ignored folders.
 */
export function compileIgnoreFile(text: string): (path: string, isFolder: boolean) => boolean | undefined {
  const rules = text.split("\n").flatMap((raw) => {
    const line = (raw.endsWith("\\ ") ? raw : raw.trimEnd()).toLowerCase();
    if (line === "" || line.startsWith("#")) return [];
    const ignored = !line.startsWith("!");
    return [{ ignored, ...compileIgnoreGlob(ignored ? line : line.slice(1)) }];
  });
  return (path, isFolder) => {
    const folded = path.toLowerCase();
    const name = folded.slice(folded.lastIndexOf("/") + 1);
    return rules.findLast(
      ({ foldersOnly, byName, matches }) => (isFolder || !foldersOnly) && matches(byName ? name : folded),
    )?.ignored;
  };
}

/** `byName`: the glob is for the last segment of a path alone. Most are, and most of those are plain names. */
function compileIgnoreGlob(glob: string): { foldersOnly: boolean; byName: boolean; matches: PathFilter } {
  const { body, foldersOnly, anywhere } = splitPattern(asIgnoreGlob(glob));
  if (!/[\\*?[]/.test(body)) return { foldersOnly, byName: anywhere, matches: (text) => text === body };
  // The literal ends of a glob reject nearly every path before the automaton runs.
  const prefix = body.slice(0, body.search(/[\\*?[]/));
  const lastSyntax = Math.max(...["*", "?", "]"].map((character) => body.lastIndexOf(character)));
  const suffix = body.includes("\\") ? "" : body.slice(lastSyntax + 1);
  const automaton = new Automaton(tokenize(body));
  const matches = (text: string): boolean =>
    text.startsWith(prefix) && text.endsWith(suffix) && automaton.matchesWhole(text);
  return { foldersOnly, byName: anywhere, matches };
}

/** An ignore file has no alternatives, and `**` is special only as a whole segment. */
function asIgnoreGlob(glob: string): string {
  const segments = glob.replace(/\\.|[{}]/g, (token) => (token.length > 1 ? token : `\\${token}`)).split("/");
  return segments
    .map((segment) =>
      segment === "**" ? segment : segment.replace(/\\.|\*+/g, (token) => (token.startsWith("*") ? "*" : token)),
    )
    .join("/");
}

function compilePattern(glob: string): PathFilter {
  const { body, foldersOnly, anywhere } = splitPattern(glob);
  const automaton = new Automaton(tokenize(anywhere ? `**/${body}` : body));
  return (path) => automaton.matches(path, foldersOnly);
}

/** `anywhere`: the glob has no `/` that would tie it to a folder. */
function splitPattern(glob: string): { body: string; foldersOnly: boolean; anywhere: boolean } {
  const anchored = glob.replace(/^\.?\//, "");
  const foldersOnly = anchored.endsWith("/");
  const body = foldersOnly ? anchored.slice(0, lastIndexNotSlash(anchored) + 1) : anchored;
  return { body, foldersOnly, anywhere: !glob.startsWith("/") && !body.includes("/") };
}

function lastIndexNotSlash(text: string): number {
  let index = text.length - 1;
  while (index >= 0 && text[index] === "/") index--;
  return index;
}
