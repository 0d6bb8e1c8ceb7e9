/** A change as it is asked about: the files of an index that it touches, the definitions in them, and its words. */
import type { IMPACT, Request } from "../../../contract/questions.ts";
import { type HunkLine, type PatchedFile, parsePatch, PatchError } from "../../../engines/impact/patch.ts";
import { WordCounts } from "../../../engines/impact/words.ts";
import type { DefinedSymbol } from "../../../engines/relations/question-files.ts";
import { isWithin } from "../../../engines/relations/modules.ts";
import type { UsesIndex } from "../../../engines/relations/uses-index.ts";
import { lastPart } from "../../../engines/search/names.ts";
import { nameWords } from "../../../engines/search/paths.ts";
import { InvalidFieldError, nothingIndexed, type OpenIndexes, QuestionError } from "../code-index.ts";
import { symbolKey } from "../relations/found.ts";
import { inheritedMembers } from "../relations/inherited.ts";
import { unknownName, unknownPath } from "../unknown.ts";
import { declaredNames, type InterfaceChange, isPublic } from "./interfaces.ts";
import type { RemovedDefinition } from "./removed-uses.ts";
import { touchedBy } from "./touched.ts";

/** Definitions that are followed, and of one file. */
const MAX_SYMBOLS = 200;
const MAX_SYMBOLS_OF_FILE = 50;
/** Files of a folder that are taken for the change. */
const MAX_FILES_OF_FOLDER = 100;
/** Lines whose names and definitions are looked for; of all others the words count. */
const MAX_LINES = 5_000;
/** Characters of a line that are searched for names. */
const MAX_LINE = 1_000;
const IDENTIFIER = /[\p{L}_$][\p{L}\p{N}_$]{2,}/gu;
/** Files whose text is compared with the patch, to know on which side of it the index is. */
const MAX_COMPARED = 50;
/** Paths of a change that are looked for in all repositories, to know which one it belongs to. */
const MAX_SOUGHT = 30;
const MAX_DEFINITIONS = 50;
/** Lines around a change count for its words, but less than what changes. */
const CHANGED_TIMES = 2;
const PATH_TIMES = 4;

type ImpactRequest = Request<typeof IMPACT>;

/** A change, in one index. */
export interface Change {
  /** Files that it touches, as the index or else the patch names them. */
  paths: string[];
  /** Those before the change that the index may know by another name. */
  formerPaths: string[];
  /** Definitions that it touches. */
  symbols: DefinedSymbol[];
  /** Classes that only gain or lose functions: what constructs them stays the same. */
  around: DefinedSymbol[];
  interfaces: InterfaceChange[];
  /** Definitions that it takes away, of an index that no longer has them. */
  removed: RemovedDefinition[];
  /** Identifiers on its lines, those of changed lines twice. */
  mentioned: string[];
  /** Identifiers on changed lines: by how many more lines that come have them than lines that go; negative for those that go. */
  gained: Map<string, number>;
  words: WordCounts;
  /** Lines that it takes away, as far as their definitions are looked for. */
  removedLines: string[];
  /** Stemmed words on the lines that it takes away or adds. */
  changedWords: Set<string>;
  /** It touches more than was looked at. */
  truncated: boolean;
}

/** What a request asks about, before it is known of which index. Throws `InvalidFieldError`. */
export function readChange(request: ImpactRequest): { patch?: PatchedFile[]; paths: string[]; name?: string } {
  const { name, paths, patch } = request;
  const given = [name, paths, patch].filter((each) => each !== undefined).length;
  if (given !== 1) {
    const field = patch !== undefined ? "patch" : paths !== undefined ? "paths" : "name";
    throw new InvalidFieldError(field, "give exactly one of name, paths and patch");
  }
  if (name !== undefined) return { paths: [], name };
  if (paths !== undefined) {
    if (paths.length === 0) throw new InvalidFieldError("paths", "must not be empty: name the files that change");
    return { paths: [...new Set(paths)] };
  }
  try {
    const files = parsePatch(patch ?? "");
    return { patch: files, paths: files.flatMap(({ oldPath, newPath }) => newPath ?? oldPath ?? []) };
  } catch (error) {
    if (error instanceof PatchError) throw new InvalidFieldError("patch", error.message);
    throw error;
  }
}

/**
 * The one index that a change belongs to: the only one, or the one that has most of its files or defines the name. Throws `QuestionError`
 * if none or several have it.
 */
export async function revisionOf(
  indexes: OpenIndexes,
  { patch, paths, name }: ReturnType<typeof readChange>,
): Promise<{ revision: number; definitions: DefinedSymbol[] }> {
  const count = indexes.indexes.length;
  if (count === 0) throw nothingIndexed();
  if (name !== undefined) {
    const exact = (await indexes.symbols({ name, match: "exact", limit: MAX_DEFINITIONS })).symbols;
    const symbols = exact.length > 0 ? exact : await inheritedMembers(indexes, name);
    if (symbols.length === 0) throw await unknownName(indexes, name);
    const revisions = [...new Set(symbols.map(({ revision }) => revision))];
    if (revisions.length > 1) throw inSeveral(indexes, "name", name, revisions);
    return { revision: revisions[0] ?? 0, definitions: symbols };
  }
  // The change is read there; it says what is missing.
  if (count === 1) return { revision: 0, definitions: [] };
  const named = patch ? patch.flatMap(({ oldPath, newPath }) => [oldPath ?? [], newPath ?? []].flat()) : paths;
  const known = await indexes.having([...new Set(named)].slice(0, MAX_SOUGHT));
  const most = Math.max(...known);
  const first = paths[0] ?? "";
  // A patch may only make new files.
  if (most === 0 && !patch) throw await unknownPath(indexes, first);
  const best = known.flatMap((own, revision) => (own === most ? [revision] : []));
  if (best.length > 1) throw inSeveral(indexes, patch ? "patch" : "paths", first, best);
  return { revision: best[0] ?? 0, definitions: [] };
}

function inSeveral(indexes: OpenIndexes, field: string, what: string, revisions: readonly number[]): QuestionError {
  const names = revisions.slice(0, 10).map((revision) => indexes.indexes[revision]?.name);
  return new QuestionError(
    "INVALID_SELECTOR",
    `${field}: ${what} may be of several repositories; name one as repo: ${names.join(", ")}`,
  );
}

/** What a change touches in its index. Throws `NotFoundError` for a path that the index does not have. */
export async function changeIn(
  indexes: OpenIndexes,
  revision: number,
  files: UsesIndex,
  asked: ReturnType<typeof readChange>,
  definitions: readonly DefinedSymbol[],
): Promise<Change> {
  const reader = new ChangeReader(indexes, revision, files);
  if (asked.name !== undefined) reader.ofDefinitions(definitions);
  else if (asked.patch) await reader.ofPatch(asked.patch);
  else for (const path of asked.paths) await reader.ofPath(path);
  return reader.change;
}

class ChangeReader {
  readonly #indexes: OpenIndexes;
  readonly #revision: number;
  readonly #files: UsesIndex;
  readonly #seen = new Set<string>();
  #lines = 0;
  readonly change: Change = {
    paths: [],
    formerPaths: [],
    symbols: [],
    around: [],
    interfaces: [],
    removed: [],
    mentioned: [],
    gained: new Map(),
    words: new WordCounts(),
    removedLines: [],
    changedWords: new Set(),
    truncated: false,
  };

  constructor(indexes: OpenIndexes, revision: number, files: UsesIndex) {
    this.#indexes = indexes;
    this.#revision = revision;
    this.#files = files;
  }

  ofDefinitions(definitions: readonly DefinedSymbol[]): void {
    for (const symbol of definitions) {
      if (!this.change.paths.includes(symbol.path)) this.#path(symbol.path);
      this.#touch(symbol);
      this.change.words.add(symbol.qualifiedName, PATH_TIMES);
    }
  }

  /** A whole file, or all files of a folder. */
  async ofPath(path: string): Promise<void> {
    const own = this.#files.has(path) ? [path] : this.#files.paths.filter(isWithin(path));
    if (own.length === 0) throw await unknownPath(this.#indexes, path);
    this.change.truncated ||= own.length > MAX_FILES_OF_FOLDER;
    for (const each of own.slice(0, MAX_FILES_OF_FOLDER)) await this.#ofFile(each);
  }

  async #ofFile(path: string): Promise<void> {
    this.#path(path);
    const symbols = await this.#files.definitionsIn(path);
    for (const symbol of symbols) this.change.words.add(symbol.name, CHANGED_TIMES);
    const mentioned = (await this.#files.uses(path))?.uses.map(({ name }) => name) ?? [];
    this.change.mentioned.push(...new Set(mentioned));
    this.change.truncated ||= symbols.length > MAX_SYMBOLS_OF_FILE;
    for (const symbol of symbols.slice(0, MAX_SYMBOLS_OF_FILE)) this.#touch(symbol);
  }

  async ofPatch(patch: readonly PatchedFile[]): Promise<void> {
    const sides = await Promise.all(patch.map((file, i) => this.#sideOf(file, i < MAX_COMPARED)));
    for (const [i, file] of patch.entries()) {
      const { oldPath, newPath } = file;
      const path = [newPath, oldPath].find((own) => own !== undefined && this.#files.has(own)) ?? newPath ?? oldPath;
      if (path === undefined) continue;
      this.#path(path);
      if (oldPath !== undefined && oldPath !== path) {
        this.change.formerPaths.push(oldPath);
        if (path === newPath && this.#files.has(path)) await this.#moved(oldPath, path);
      }
      await this.#ofHunks(path, file, sides[i] ?? "new");
    }
  }

  #path(path: string): void {
    this.change.paths.push(path);
    this.change.words.add(path.replace(/\.[^./]*$/, ""), PATH_TIMES);
  }

  #touch(symbol: DefinedSymbol): void {
    const key = symbolKey(symbol);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (this.change.symbols.length < MAX_SYMBOLS) this.change.symbols.push(symbol);
    else this.change.truncated = true;
  }

  /** What a file defines that has another path now. */
  async #moved(from: string, to: string): Promise<void> {
    const top = (await this.#files.definitionsIn(to)).filter(({ name, qualifiedName }) => name === qualifiedName);
    for (const { name } of top.slice(0, MAX_SYMBOLS_OF_FILE))
      this.change.removed.push({ path: from, name, movedTo: to });
  }

  /** Whether the index has a file as it was before the patch, or as it is after it. */
  async #sideOf({ oldPath, newPath, hunks }: PatchedFile, isCompared: boolean): Promise<"old" | "new"> {
    const isWorkTree = this.#indexes.indexes[this.#revision]?.isWorkTree === true;
    const path = [newPath, oldPath].find((own) => own !== undefined && this.#files.has(own));
    const [hunk] = hunks;
    // A file that the patch adds or deletes, and that the index does not have.
    if (path === undefined && oldPath === undefined) return "old";
    if (path === undefined && newPath === undefined) return "new";
    if (!isCompared || path === undefined || !hunk) return isWorkTree ? "new" : "old";
    const after = hunk.lines.filter(({ kind }) => kind !== "removed").map(({ text }) => text.trimEnd());
    const from = Math.max(1, hunk.newStart);
    const lines = await this.#indexes.file(path, from, from + after.length, this.#revision).catch(() => undefined);
    const text = lines?.text.split("\n").map((line) => line.trimEnd());
    if (text === undefined) return isWorkTree ? "new" : "old";
    return after.length > 0 && after.every((line, i) => line === text[i]) ? "new" : "old";
  }

  /** Counts the words of a line. Returns whether its definitions are looked for. */
  #take({ kind, text }: HunkLine): boolean {
    const { change } = this;
    change.words.add(text, kind === "same" ? 1 : CHANGED_TIMES);
    if (this.#lines++ >= MAX_LINES) {
      change.truncated = true;
      return false;
    }
    const names = text.slice(0, MAX_LINE).match(IDENTIFIER) ?? [];
    change.mentioned.push(...names);
    if (kind === "same") return true;
    if (kind === "removed") change.removedLines.push(text);
    for (const word of nameWords(text.slice(0, MAX_LINE))) change.changedWords.add(word);
    change.mentioned.push(...names);
    for (const name of names) change.gained.set(name, (change.gained.get(name) ?? 0) + (kind === "added" ? 1 : -1));
    return true;
  }

  async #ofHunks(path: string, { hunks }: PatchedFile, side: "old" | "new"): Promise<void> {
    const symbols = this.#files.has(path) ? await this.#files.definitionsIn(path) : [];
    const { change } = this;
    const own = side === "new" ? "added" : "removed";
    const lines = new Map<number, HunkLine>();
    const gone = new Map<string, string>();
    const looked = hunks.map((hunk) => hunk.lines.filter((line) => this.#take(line)));
    for (const line of looked.flat().filter(({ kind }) => kind !== "same")) {
      if (line.kind === own) lines.set(side === "new" ? line.newLine : line.oldLine, line);
      if (line.kind === "removed") for (const name of declaredNames(line.text)) gone.set(name, line.text);
    }
    const touched = touchedBy(symbols, looked, side);
    for (const symbol of touched.own) this.#touch(symbol);
    change.around.push(...touched.around);
    const isTest = this.#files.isTest(path);
    const known = new Set<string>();
    for (const symbol of symbols) {
      const line = lines.get(symbol.startLine);
      if (!line) continue;
      this.#touch(symbol);
      if (isTest || known.has(symbol.qualifiedName) || !isPublic(path, symbol, line.text)) continue;
      known.add(symbol.qualifiedName);
      const isWhole = hasAllLines(symbol, lines);
      const isNew = isWhole && !gone.has(lastPart(symbol.name)) && side === "new";
      const what = isNew ? "added" : isWhole && side === "old" ? "removed" : "changed";
      change.interfaces.push({ path, symbol: symbol.qualifiedName, change: what });
    }
    if (side === "old") return;
    const defined = new Set(symbols.map(({ name }) => lastPart(name)));
    for (const [name, line] of gone) {
      if (defined.has(name)) continue;
      change.removed.push({ path, name });
      const declared = { name, qualifiedName: name, kind: "function" };
      if (!isTest && isPublic(path, declared, line)) change.interfaces.push({ path, symbol: name, change: "removed" });
    }
  }
}

function hasAllLines({ startLine, endLine }: DefinedSymbol, lines: ReadonlyMap<number, HunkLine>): boolean {
  for (let line = startLine; line <= endLine; line++) if (!lines.has(line)) return false;
  return true;
}
