/** The files of a Ruby program: which of them open a class or define a constant. */
import { AMBIGUOUS_LINE } from "./limits.ts";
import { isHelper, isRubyFile, lastOfPath, memberKey } from "./ruby-keys.ts";
import type { Place, RelatedFiles } from "./resolved.ts";
import type { ClassInfo, FileUses, Meaning } from "./types.ts";

/** Files that open a class and are read. */
const MAX_OPENED = 200;

/** The part of a class that one file declares. */
export type Part = { path: string } & ClassInfo;

/** A constant, with its meaning in one file. */
export interface Constant {
  path: string;
  of: Meaning;
  /** Number of members that the class has in that file. */
  size?: number;
}

export class RubyFiles {
  readonly #files: RelatedFiles;

  constructor(files: RelatedFiles) {
    this.#files = files;
  }

  /** The full name of the class on a line; undefined if it has none, or several classes begin there. */
  async nameOf({ path, line }: Place): Promise<string | undefined> {
    const uses = await this.#files.uses(path);
    return uses && knownIn(uses).names.get(line);
  }

  /** The parts of a class; `isWhole` is false if too many files open it. */
  async parts(at: Place, full: string | undefined, name: string): Promise<{ parts: Part[]; isWhole: boolean }> {
    if (full !== undefined) {
      const files = await this.files(lastOfPath(full));
      if (files.length <= MAX_OPENED) return { parts: await this.partsIn(files, full), isWhole: true };
      const defining = new Set([...(await this.files(name)), at.path]);
      const both = files.filter((path) => defining.has(path)).slice(0, MAX_OPENED);
      return { parts: await this.partsIn(both, full), isWhole: false };
    }
    const uses = await this.#files.uses(at.path);
    const own = uses && knownIn(uses).classes.get(at.line);
    return { parts: own ? [{ path: at.path, ...own }] : [], isWhole: true };
  }

  async partsNamed(full: string): Promise<Part[]> {
    return this.partsIn((await this.files(lastOfPath(full))).slice(0, MAX_OPENED), full);
  }

  /** The methods with a name of the helpers of Rails. */
  async helpersNamed(name: string): Promise<Constant[]> {
    const found: Constant[] = [];
    for (const path of (await this.files(name)).filter(isHelper).slice(0, MAX_OPENED)) {
      const uses = await this.#files.uses(path);
      for (const { members } of uses?.classes ?? []) {
        const own = members.get(memberKey("-", name));
        if (own && own.line !== AMBIGUOUS_LINE) found.push({ path, of: { to: "local", line: own.line } });
      }
    }
    return found;
  }

  async partsIn(files: readonly string[], full: string): Promise<Part[]> {
    const parts: Part[] = [];
    for (const path of files) {
      const uses = await this.#files.uses(path);
      const of = uses?.bindings.get(full);
      const own = uses && of?.to === "local" ? knownIn(uses).classes.get(of.line) : undefined;
      if (own) parts.push({ path, ...own });
    }
    return parts;
  }

  /** The constants with a last name, by their full names; undefined if too many files define it. */
  async bound(last: string): Promise<Map<string, Constant[]> | undefined> {
    const files = await this.files(last);
    if (files.length > MAX_OPENED) return undefined;
    const bound = new Map<string, Constant[]>();
    for (const path of files) {
      const uses = await this.#files.uses(path);
      for (const full of (uses && knownIn(uses).byLast.get(last)) ?? []) {
        const of = uses?.bindings.get(full);
        if (!of) continue;
        const known = bound.get(full);
        const size = uses && of.to === "local" ? (knownIn(uses).classes.get(of.line)?.members.size ?? 0) : 0;
        if (known) known.push({ path, of, size });
        else bound.set(full, [{ path, of, size }]);
      }
    }
    return bound;
  }

  /** Files that define a name, those with the shortest paths first. */
  async files(name: string): Promise<readonly string[]> {
    const definitions = await this.#files.definitions(name);
    let found = filesOf.get(definitions);
    if (!found) {
      const paths = [...new Set(definitions.map(({ path }) => path))].filter(isRubyFile);
      filesOf.set(definitions, (found = paths.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))));
    }
    return found;
  }
}

/** Files by the list of definitions that they come from. */
const filesOf = new WeakMap<object, readonly string[]>();

interface Known {
  /** Full names of constants by the last part. */
  byLast: Map<string, string[]>;
  /** Full names of classes by the line on which they begin. */
  names: Map<number, string | undefined>;
  classes: Map<number, ClassInfo>;
}

/** Lookup tables by the uses of a file. */
const known = new WeakMap<FileUses, Known>();

export function knownIn(uses: FileUses): Known {
  let found = known.get(uses);
  if (found) return found;
  found = { byLast: new Map(), names: new Map(), classes: new Map() };
  known.set(uses, found);
  for (const own of uses.classes) if (!found.classes.has(own.line)) found.classes.set(own.line, own);
  for (const [full, of] of uses.bindings) {
    if (full.endsWith("()")) continue;
    const last = lastOfPath(full);
    const alike = found.byLast.get(last);
    if (alike) alike.push(full);
    else found.byLast.set(last, [full]);
    if (of.to === "local") found.names.set(of.line, found.names.has(of.line) ? undefined : full);
  }
  return found;
}
