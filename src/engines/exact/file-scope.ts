/** What an exact search takes from the files of its scope alone, whatever its pattern is: most of a repeated search would go into that. */
import { GAPS, type NotSearched } from "../../contract/not-searched.ts";
import { skipReason } from "../parsing/skip.ts";
import { asideTraits, TRAIT } from "../search/traits.ts";
import type { GrepAnswer, GrepCoverage, TextFile } from "./types.ts";

/** Most files that an answer lists as not searched. */
const MAX_GAPS = 100;
/** No further file. */
const NONE = -1;
/** Traits that have not been asked for; no file has all bits. */
const UNKNOWN = 0xff;

const REASONS = new Set<string>(GAPS);
/** Whether a file that is not searched for this reason makes an answer incomplete. */
export const isGap = (reason: string): boolean => REASONS.has(reason);

/** Scopes by their files: an adapter may return the same array for the same files. */
const scopes = new WeakMap<readonly TextFile[], FileScope>();

/** Files in their order, by their texts, and what is counted of them. */
export class FileScope {
  readonly files: readonly TextFile[];
  /** The distinct texts, in the order of their first files. */
  readonly contents: readonly string[];
  /** Of an answer before it lacks anything else. */
  readonly coverage: Readonly<GrepCoverage>;
  readonly gaps: readonly GrepAnswer["gaps"][number][];
  readonly withheldIn: readonly GrepAnswer["withheldIn"][number][];
  /** Of each text, the position of its first file. */
  readonly #first: Uint32Array;
  /** Of each file, the position of the next one with the same text; undefined where no two have the same. */
  readonly #next: Int32Array | undefined;
  readonly #traits: Uint8Array;

  /** `contentsDiffer`: see `RevisionTexts`. */
  constructor(files: readonly TextFile[], contentsDiffer: boolean) {
    const gaps: GrepAnswer["gaps"] = [];
    const withheldIn: GrepAnswer["withheldIn"] = [];
    const coverage: GrepCoverage = { files: 0, bytes: 0, notSearched: {}, withheldLines: 0 };
    const contents: string[] = [];
    const first = new Uint32Array(files.length);
    const next = contentsDiffer ? undefined : new Int32Array(files.length).fill(NONE);
    /** Position of the last file of each text. */
    const last = contentsDiffer ? undefined : new Map<string, number>();
    for (const [at, file] of files.entries()) {
      const { content, size, withheldLines: lines } = file;
      if (content === undefined) {
        addGap(coverage, gaps, file, file.reason as NotSearched);
        continue;
      }
      const before = last?.get(content);
      last?.set(content, at);
      if (next && before !== undefined) next[before] = at;
      else first[contents.push(content) - 1] = at;
      coverage.files++;
      coverage.bytes += size ?? 0;
      if (lines === 0) continue;
      coverage.withheldLines += lines;
      if (withheldIn.length < MAX_GAPS) withheldIn.push({ revision: file.revision, path: file.path, lines });
    }
    this.files = files;
    this.gaps = gaps;
    this.withheldIn = withheldIn;
    this.contents = contents;
    this.coverage = coverage;
    this.#first = first;
    this.#next = next;
    this.#traits = new Uint8Array(files.length).fill(UNKNOWN);
  }

  /** The scope of some files, which must not change; that of an earlier call if they are the same array. */
  static of(files: readonly TextFile[], contentsDiffer: boolean): FileScope {
    const known = scopes.get(files);
    if (known) return known;
    const scope = new FileScope(files, contentsDiffer);
    scopes.set(files, scope);
    return scope;
  }

  /** Positions of the files that have a text, by its number in `contents`, ascending. */
  *having(content: number): Generator<number> {
    for (let at = this.#first[content] ?? NONE; at !== NONE; at = this.#next?.[at] ?? NONE) yield at;
  }

  /** Traits for which a file is listed after the sources. A file that ranking skips by its name counts as generated. */
  traitsAt(at: number): number {
    const known = this.#traits[at] as number;
    if (known !== UNKNOWN) return known;
    const { path, language, state } = this.files[at] as TextFile;
    const isSkipped = state === "searched" && skipReason(path) !== undefined;
    return (this.#traits[at] = asideTraits(path, language ?? "") | (isSkipped ? TRAIT.generated : 0));
  }
}

/** Counts a file as not searched. */
export function addGap(
  { notSearched }: Pick<GrepCoverage, "notSearched">,
  listed: GrepAnswer["gaps"],
  { revision, path }: TextFile,
  reason: NotSearched,
): void {
  notSearched[reason] = (notSearched[reason] ?? 0) + 1;
  if (isGap(reason) && listed.length < MAX_GAPS) listed.push({ revision, path, reason });
}
