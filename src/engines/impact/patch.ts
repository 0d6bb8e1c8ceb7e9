/** Reads unified diffs, as `git diff` and `diff -u` write them. One pass over the lines; nothing is looked at twice. */

import { bytesOfPath, pathFromBytes } from "../../lib/path-text.ts";

/** Files that a patch may change. */
export const MAX_PATCH_FILES = 300;

/** What changes together in a file: the lines that go, and those that come. */
export interface Hunk {
  /** First line before and after the change, 1-based; 0 where that side is empty. */
  oldStart: number;
  newStart: number;
  /** In order, context included. */
  lines: HunkLine[];
}

export interface HunkLine {
  kind: "same" | "removed" | "added";
  text: string;
  /** Line before the change, 1-based; of an added one that of the line after it. */
  oldLine: number;
  /** Line after the change, 1-based; of a removed one that of the line after it. */
  newLine: number;
}

/** A file that a patch changes. Without hunks it is renamed, binary, or changed in its mode. */
export interface PatchedFile {
  /** Path before the change; undefined for a new file. */
  oldPath?: string | undefined;
  /** Path after the change; undefined for a deleted file. */
  newPath?: string | undefined;
  hunks: Hunk[];
}

/** A text is no unified diff. The message names the line. */
export class PatchError extends Error {
  override readonly name = "PatchError";
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/** The files that a unified diff changes, in its order. Throws `PatchError` for a text that is none. */
export function parsePatch(text: string): PatchedFile[] {
  return new PatchReader(text).read();
}

class PatchReader {
  readonly #text: string;
  #at = 0;
  #number = 0;
  readonly #files: PatchedFile[] = [];
  #file: PatchedFile | undefined;
  /** The line `---` that stands before `+++`. */
  #old: { path: string | undefined } | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read(): PatchedFile[] {
    for (let line = this.#next(); line !== undefined; line = this.#next()) this.#header(line);
    const files = this.#files.filter(({ oldPath, newPath }) => oldPath !== undefined || newPath !== undefined);
    if (files.length === 0)
      throw new PatchError("is no unified diff: it has neither a line `diff --git` nor `---` and `+++`");
    return files;
  }

  #next(): string | undefined {
    if (this.#at >= this.#text.length) return undefined;
    const end = this.#text.indexOf("\n", this.#at);
    const line = this.#text.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#text.length : end + 1;
    this.#number++;
    return line;
  }

  #fail(problem: string): never {
    throw new PatchError(`line ${this.#number}: ${problem}`);
  }

  /** A line outside of hunks: of a file's head, or of the text around the patch. */
  #header(raw: string): void {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    if (line.startsWith("diff --git ")) {
      const path = samePath(line.slice("diff --git ".length));
      this.#begin({ oldPath: path, newPath: path, hunks: [] });
    } else if (line.startsWith("@@ ")) this.#hunk(line);
    else if (line.startsWith("--- ")) this.#old = { path: pathOf(line.slice(4), "a/") };
    else if (line.startsWith("+++ ") && this.#old) {
      const paths = { oldPath: this.#old.path, newPath: pathOf(line.slice(4), "b/") };
      if (this.#file && this.#file.hunks.length === 0) Object.assign(this.#file, paths);
      else this.#begin({ ...paths, hunks: [] });
      this.#old = undefined;
    } else if (this.#file && this.#file.hunks.length === 0) this.#extended(this.#file, line);
  }

  #begin(file: PatchedFile): void {
    if (this.#files.length >= MAX_PATCH_FILES)
      throw new PatchError(`changes more than ${MAX_PATCH_FILES} files; ask about a part of them`);
    this.#files.push(file);
    this.#file = file;
    this.#old = undefined;
  }

  /** Lines of git that say what `---` and `+++` do not, or stand in their place. */
  #extended(file: PatchedFile, line: string): void {
    const [, what, path = ""] = /^(rename from|rename to|copy from|copy to) (.*)$/.exec(line) ?? [];
    if (what !== undefined) Object.assign(file, { [what.endsWith("from") ? "oldPath" : "newPath"]: pathOf(path, "") });
    if (line.startsWith("new file mode ")) file.oldPath = undefined;
    if (line.startsWith("deleted file mode ")) file.newPath = undefined;
  }

  #hunk(line: string): void {
    const [, oldStart, oldCount = "1", newStart, newCount = "1"] = HUNK.exec(line) ?? [];
    if (oldStart === undefined) this.#fail("a hunk begins with `@@ -line,count +line,count @@`");
    if (!this.#file) this.#fail("the hunk belongs to no file: `---` and `+++` are missing before it");
    const hunk: Hunk = { oldStart: Number(oldStart), newStart: Number(newStart), lines: [] };
    let [oldLeft, newLeft] = [Number(oldCount), Number(newCount)];
    // An empty side begins after the line that its head names.
    let oldLine = Math.max(1, hunk.oldStart + Number(oldLeft === 0));
    let newLine = Math.max(1, hunk.newStart + Number(newLeft === 0));
    while (oldLeft > 0 || newLeft > 0) {
      const own = this.#next();
      if (own === undefined) this.#fail(`the patch ends inside of a hunk, ${oldLeft + newLeft} lines before its end`);
      if (own.startsWith("\\")) continue;
      const kind = KINDS.get(own.slice(0, 1).trimEnd());
      if (kind === undefined) this.#fail("a line of a hunk begins with a space, `-`, `+` or `\\`");
      hunk.lines.push({ kind, text: own.slice(1), oldLine, newLine });
      if (kind !== "added") [oldLine, oldLeft] = [oldLine + 1, oldLeft - 1];
      if (kind !== "removed") [newLine, newLeft] = [newLine + 1, newLeft - 1];
      if (oldLeft < 0 || newLeft < 0) this.#fail("the hunk has more lines than its head says");
    }
    this.#file.hunks.push(hunk);
  }
}

/** By the first character of a line, a space as an empty text: programs cut it off from empty lines. */
const KINDS: ReadonlyMap<string, HunkLine["kind"]> = new Map([
  ["", "same"],
  ["-", "removed"],
  ["+", "added"],
]);

/** The path of `a/path b/path`, which is the same twice; undefined where it is not: then other lines name the two. */
function samePath(both: string): string | undefined {
  const half = (both.length - 1) / 2;
  const [old, own] = [both.slice(0, half), both.slice(half + 1)];
  const path = pathOf(old, "a/");
  return Number.isInteger(half) && path !== undefined && path === pathOf(own, "b/") ? path : undefined;
}

/** The path of a line `---`, `+++` or `rename`; undefined for `/dev/null`. */
function pathOf(text: string, prefix: "a/" | "b/" | ""): string | undefined {
  const tab = text.indexOf("\t");
  const shown = (tab < 0 ? text : text.slice(0, tab)).trimEnd();
  if (shown === "/dev/null" || shown === "") return undefined;
  if (!shown.startsWith('"')) return shown.startsWith(prefix) ? shown.slice(prefix.length) : shown;
  // Git quotes some names: `"b/f\303\244.txt"`.
  const bytes = bytesOfPath(shown);
  const isPrefixed = new TextDecoder().decode(bytes.subarray(0, prefix.length)) === prefix;
  return pathFromBytes(isPrefixed ? bytes.subarray(prefix.length) : bytes);
}
