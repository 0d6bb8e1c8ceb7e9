/**
 * Path globs with .gitignore semantics. A list is matched at once, in time that is linear in the path and limited for any list
 * (`glob-automaton.ts`).
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
import { Automaton, GlobLimitError } from "./glob-automaton.ts";
import { tokenize } from "./glob-tokens.ts";

/** Whether the globs select a path. Paths start at the root and use `/` between segments. */
type PathFilter = (path: string) => boolean;

/** A list of globs that cannot be matched in bounded time. The message begins with the field. */
export class GlobError extends Error {
  override readonly name = "GlobError";
  /** The field of the request, or the file, that has the globs. */
  readonly field: string;
  /** What is wrong, without the field. */
  readonly problem: string;

  constructor(field: string, problem: string) {
    super(`${field}: ${problem}`);
    this.field = field;
    this.problem = problem;
  }
}

interface GlobOptions {
  /** What an error names. */
  field: string;
  /** Decides about a path that no glob matches, if the list begins with `!`; default: select. */
  otherwise?: PathFilter;
}

/**
 * Compiles a list of globs. The last glob that matches a path decides: a plain one selects it, one with a leading `!` drops it.
 * A path that no glob matches is dropped, unless the list begins with `!`. Throws `GlobError`, as the filter does: matching 10,000 paths
 * takes at most about 25 ms.
 */
export function compileGlobs(globs: readonly string[], { field, otherwise = () => true }: GlobOptions): PathFilter {
  return naming(field, () => {
    const literals = new LiteralGlobs();
    const automaton = new Automaton();
    const negated = globs.map((glob) => glob.startsWith("!"));
    for (const [index, glob] of globs.entries()) {
      const { body, foldersOnly, anywhere } = splitPattern(negated[index] === true ? glob.slice(1) : glob);
      if (isLiteral(body)) literals.insert(body, index, { foldersOnly, anywhere });
      else automaton.insert(tokenize(anywhere ? `**/${body}` : body), index, foldersOnly);
    }
    const fallback = negated[0] === true ? otherwise : () => false;
    return (path) => {
      const last = Math.max(
        literals.lastMatch(path),
        naming(field, () => automaton.lastMatch(path)),
      );
      return last < 0 ? fallback(path) : negated[last] === false;
    };
  });
}

/**
 * The glob of a path that a person types after `path:`. One without syntax is the beginning of a path, so `src/session` selects
 * `src/session.ts` and `src/sessions/`; `src/session/` is the folder alone, and a leading `!` drops exactly what it names.
 */
export function typedGlob(text: string): string {
  return isLiteral(text) && !/^!|\/$/.test(text) ? `${text}*` : text;
}

/** A path segment, and the last glob that ends with it, -1 for none: of those that match files, and of all. */
interface Place {
  file: number;
  folder: number;
  below: Map<string, Place>;
}

/** The globs without syntax, of which lists may have thousands: a tree of path segments. */
class LiteralGlobs {
  readonly #root = newPlace();
  /** Those that match in any folder. */
  readonly #names = new Map<string, Place>();

  insert(path: string, index: number, { foldersOnly, anywhere }: { foldersOnly: boolean; anywhere: boolean }): void {
    const place = anywhere
      ? getOrAdd(this.#names, path)
      : path.split("/").reduce((at, name) => getOrAdd(at.below, name), this.#root);
    endAt(place, index, foldersOnly);
  }

  /** Index of the last glob that matches the path or one of its parent folders; -1 for none. */
  lastMatch(path: string): number {
    let last = -1;
    let place: Place | undefined = this.#root;
    if (this.#names.size === 0 && place.below.size === 0) return last;
    for (let start = 0; start <= path.length;) {
      const slash = path.indexOf("/", start);
      const segment = path.slice(start, slash < 0 ? undefined : slash);
      place = place?.below.get(segment);
      for (const ends of [place, this.#names.get(segment)]) {
        if (ends) last = Math.max(last, slash < 0 ? ends.file : ends.folder);
      }
      if (slash < 0 || (!place && this.#names.size === 0)) break;
      start = slash + 1;
    }
    return last;
  }
}

function endAt(place: Place, index: number, foldersOnly: boolean): void {
  place.folder = index;
  if (!foldersOnly) place.file = index;
}

const isLiteral = (body: string): boolean => !/[\\*?[{]/.test(body);

const newPlace = (): Place => ({ file: -1, folder: -1, below: new Map() });

const NOWHERE = newPlace();

function getOrAdd(map: Map<string, Place>, key: string): Place {
  let found = map.get(key);
  if (!found) map.set(key, (found = newPlace()));
  return found;
}

/** Runs it; an exceeded limit becomes an error that names the field. */
function naming<T>(field: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof GlobLimitError ? new GlobError(field, error.message) : error;
  }
}

/**
 * Compiles the text of an ignore file, in `.gitignore` syntax; case does not count. The result gives the verdict of the last line
 * that matches the path itself (without a `/` at its end): true for ignored, false for a line with `!`, undefined without any.
 * The caller has to skip the contents of ignored folders. Throws `GlobError`, as the result does; `name` is the file's.
 */
export function compileIgnoreFile(
  text: string,
  name: string,
): (path: string, isFolder: boolean) => boolean | undefined {
  return naming(name, () => {
    // Most lines are for the last segment of a path alone.
    const names = new WholeGlobs();
    const paths = new WholeGlobs();
    const ignored: boolean[] = [];
    for (const raw of text.split("\n")) {
      const line = (raw.endsWith("\\ ") ? raw : raw.trimEnd()).toLowerCase();
      if (line === "" || line.startsWith("#")) continue;
      const isIgnored = !line.startsWith("!");
      const { body, foldersOnly, anywhere } = splitPattern(asIgnoreGlob(isIgnored ? line : line.slice(1)));
      (anywhere ? names : paths).insert(body, ignored.push(isIgnored) - 1, foldersOnly);
    }
    return (path, isFolder) => {
      const folded = path.toLowerCase();
      const own = folded.slice(folded.lastIndexOf("/") + 1);
      return naming(name, () => ignored[Math.max(names.lastMatch(own, isFolder), paths.lastMatch(folded, isFolder))]);
    };
  });
}

/** Globs that have to match the whole of a text. */
class WholeGlobs {
  readonly #literals = new Map<string, Place>();
  readonly #automaton = new Automaton();

  insert(body: string, index: number, foldersOnly: boolean): void {
    if (isLiteral(body)) endAt(getOrAdd(this.#literals, body), index, foldersOnly);
    else this.#automaton.insert(tokenize(body), index, foldersOnly);
  }

  /** Index of the last glob that matches; -1 for none. */
  lastMatch(text: string, isFolder: boolean): number {
    const literal = this.#literals.get(text) ?? NOWHERE;
    return Math.max(isFolder ? literal.folder : literal.file, this.#automaton.lastWhole(text, isFolder));
  }
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
