import { DEFAULT_MAX_FILE_SIZE_BYTES, MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import { detectLanguage } from "../../engines/parsing/detect.ts";
import { nameVerdict } from "../../engines/parsing/name-verdict.ts";
import { isText } from "../../engines/parsing/skip.ts";
import type { InspectedText } from "../../engines/exact/inspect.ts";
import { blankLines } from "../../engines/parsing/secrets/lines.ts";
import { asUtf8 } from "../../engines/parsing/utf16.ts";
import { mayHold } from "../../engines/exact/ngram-filter.ts";
import type { FileBytes, MissingText, RevisionTexts, TextFile } from "../../engines/exact/types.ts";
import type { FileListing } from "../git/git.ts";
import { type FileStat, isRacy } from "../indexing/file-stat.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { CODECTX_IGNORE, type IgnoreRules, readCodectxIgnores } from "../indexing/ignore-rules.ts";
import { inspect, inspectTexts, type UnknownText } from "./inspect-texts.ts";
import { regexModule } from "./regex-module.ts";
import { knownText, type TextCache } from "./text-cache.ts";
import type { KnownText } from "./text-records.ts";

/** Most texts are shorter: they are read into the same buffer, one after another. */
const READ_BYTES = 512 * 1024;

/** Nothing else waits for this process, and the first search examines all files. Well within the minute that clients wait. */
export const LOCAL_MAX_MS = 10_000;

/** Files between two reports of the progress, which costs more than a file does. */
const REPORTED_FILES = 100;

export interface WorkTree {
  root: string;
  listing: FileListing;
  cache: TextCache;
  enclosing: RevisionTexts["enclosing"];
  /** Time at which the files are examined. */
  nowMs: number;
  /** Called as files are examined, and again as those are read that may match. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/** The texts of a work tree as they are on disk now, whether or not they are indexed. */
export function workTreeTexts(given: WorkTree): RevisionTexts {
  const tree = given.listing.tree ?? new FileTree(given.root);
  let examined: Promise<ExaminedFiles> | undefined;
  const examine = () => (examined ??= examineFiles(tree, given));
  return {
    maxMs: LOCAL_MAX_MS,
    contentsDiffer: true,
    files: async () => (await examine()).all,
    candidates: async (query, contents) => {
      const files = await examine();
      return (number) => {
        const file = files.find(contents[number] as string);
        return !(file instanceof WorkTreeText) || mayHold(file.known.filter, query);
      };
    },
    regexModule,
    async *read(contents): AsyncGenerator<FileBytes | MissingText> {
      const files = await examine();
      const buffer = new Uint8Array(READ_BYTES);
      for (const [i, content] of contents.entries()) {
        given.onProgress?.(i + 1, contents.length);
        const file = files.find(content);
        const isText = file instanceof WorkTreeText;
        yield isText ? await readText(tree, file, buffer) : { content, missing: "unreadable" };
      }
    },
    enclosing: given.enclosing,
  };
}

/** The files of a work tree. They are mostly asked for in their order, where looking each up would take as long as a search. */
class ExaminedFiles {
  readonly all: readonly TextFile[];
  #next = 0;
  #byPath: Map<string, TextFile> | undefined;

  constructor(all: readonly TextFile[]) {
    this.all = all;
  }

  find(path: string): TextFile | undefined {
    for (const end = this.#next + MAX_PASSED; this.#next < end; this.#next++) {
      const file = this.all[this.#next];
      if (file?.path === path) return file;
      if (!file) break;
    }
    this.#byPath ??= new Map(this.all.map((file) => [file.path, file]));
    return this.#byPath.get(path);
  }
}

/** Files skipped at most to reach the one asked for, before all are put in a map. */
const MAX_PASSED = 1_000;

/** The text of one file and its language; undefined if it is not searched. */
export async function workTreeText(
  { root, listing, nowMs }: Pick<WorkTree, "root" | "listing" | "nowMs">,
  path: string,
): Promise<{ text: FileBytes; language: string | null } | undefined> {
  const tree = new FileTree(root);
  const paths = listing.paths();
  const examined = paths.includes(path)
    ? examineFile(tree, path, readCodectxIgnores(tree, listing.named(CODECTX_IGNORE)), undefined, nowMs)
    : undefined;
  if (!(examined instanceof UnreadFile)) return undefined;
  await inspectFiles(tree, [examined], () => undefined);
  const file = examined.describe(undefined);
  if (!(file instanceof WorkTreeText)) return undefined;
  const text = await readText(tree, file);
  return "bytes" in text ? { text, language: file.language } : undefined;
}

/** The text of a file, read into `buffer` if it fits; one that has changed since it was examined is inspected again. */
async function readText(
  tree: FileTree,
  { path, known }: WorkTreeText,
  buffer?: Uint8Array<ArrayBuffer>,
): Promise<FileBytes | MissingText> {
  const bytes = tree.read(path, MAX_FILE_SIZE_BYTES + 1, buffer);
  if (!bytes || bytes.length > MAX_FILE_SIZE_BYTES) return { content: path, missing: "unreadable" };
  const after = tree.lstat(path);
  const { reason, withheld } = after && known.isInState(after) ? known : await inspect(bytes);
  if (!isText(reason)) return { content: path, missing: "unreadable" };
  return { content: path, bytes: blankLines(asUtf8(bytes), withheld), withheld };
}

/** All files, in order. Those whose bytes are not known yet are read. */
async function examineFiles(tree: FileTree, { listing, cache, nowMs, onProgress }: WorkTree): Promise<ExaminedFiles> {
  const paths = listing.paths();
  const rules = readCodectxIgnores(tree, listing.named(CODECTX_IGNORE));
  const found: (TextFile | UnreadFile)[] = [];
  let done = 0;
  const report = (): void => {
    if (++done % REPORTED_FILES === 0 || done === paths.length) onProgress?.(done, paths.length);
  };
  for (const path of paths) {
    const file = examineFile(tree, path, rules, cache, nowMs);
    if (file) found.push(file);
    if (!(file instanceof UnreadFile)) report();
  }
  await inspectFiles(
    tree,
    found.filter((file) => file instanceof UnreadFile),
    report,
  );
  // In order: threads answer in any, and the next search finds records fastest in the order of the files.
  const files = found.map((file) => (file instanceof UnreadFile ? file.describe(cache) : file));
  for (let i = 1; i <= listing.unreadable; i++) {
    files.push(notSearched(`(unreadable folder ${i})`, "unreadable"));
  }
  cache.save({ keepsAll: false });
  return new ExaminedFiles(files);
}

/** Reads files and inspects their bytes. `onDone` is called for each. */
function inspectFiles(tree: FileTree, files: readonly UnreadFile[], onDone: () => void): Promise<void> {
  function* texts(): Generator<UnknownText<UnreadFile>> {
    for (const file of files) {
      const bytes = tree.read(file.path, MAX_FILE_SIZE_BYTES);
      if (bytes) yield { key: file, bytes };
      else onDone();
    }
  }
  return inspectTexts(texts(), files.length, (file, inspected) => {
    file.inspected = inspected;
    onDone();
  });
}

/** A file whose bytes are not known yet. */
class UnreadFile {
  readonly path: string;
  /** Taken before it is read. */
  readonly stat: FileStat;
  /** Whether what is found of the bytes may be kept: those of a file that has just changed may change again under the same key. */
  readonly keeps: boolean;
  /** Undefined if it cannot be read. */
  inspected: InspectedText | undefined;

  constructor(path: string, stat: FileStat, keeps: boolean) {
    this.path = path;
    this.stat = stat;
    this.keeps = keeps;
  }

  /** The file as it was found, which is kept if it may be. */
  describe(cache: TextCache | undefined): TextFile {
    const { path, stat, inspected } = this;
    if (!inspected) return notSearched(path, "unreadable", stat.size);
    if (this.keeps) cache?.add(path, inspected, stat);
    return describeWorkTreeText(path, stat.size, knownText(inspected, stat));
  }
}

/** Undefined if nothing is there: git lists deleted files. */
function examineFile(
  tree: FileTree,
  path: string,
  rules: IgnoreRules,
  cache: TextCache | undefined,
  nowMs: number,
): TextFile | undefined | UnreadFile {
  const stat = tree.lstat(path);
  if (!stat) {
    const irregular = tree.irregular(path);
    if (irregular) return notSearched(path, irregular);
    return tree.lstatFolder(path) ? notSearched(path, "submodule") : undefined;
  }
  if (rules.ignores(path)) return notSearched(path, "excluded", stat.size);
  if (stat.size > MAX_FILE_SIZE_BYTES) return notSearched(path, "too_large", stat.size);
  const keeps = !isRacy(stat, nowMs);
  const known = keeps ? cache?.get(path, stat) : undefined;
  return known ? describeWorkTreeText(path, stat.size, known) : new UnreadFile(path, stat, keeps);
}

/** A file that is not searched. */
export function notSearched(path: string, reason: string, size: number | null = null): TextFile {
  return {
    revision: 0,
    path,
    language: null,
    size,
    state: "not_searched",
    reason,
    content: undefined,
    withheldLines: 0,
  };
}

/** A text file of a commit, ranked or not, by the rules of the index. */
export function describeText(path: string, size: number, inspected: InspectedText, content: string): TextFile {
  const reason = unsearchedReason(inspected);
  return reason === undefined ? new SearchedText(path, size, content, inspected) : notSearched(path, reason, size);
}

function describeWorkTreeText(path: string, size: number, known: KnownText): TextFile {
  const reason = unsearchedReason(known);
  return reason === undefined ? new WorkTreeText(path, size, known) : notSearched(path, reason, size);
}

function unsearchedReason({ reason }: InspectedText): string | undefined {
  return isText(reason) ? undefined : reason;
}

/** What its name says of a file is found when it is asked for: a search does so of the files that match. */
class SearchedText implements TextFile {
  readonly revision = 0;
  readonly path: string;
  readonly size: number;
  readonly content: string;
  readonly known: InspectedText;

  constructor(path: string, size: number, content: string, known: InspectedText) {
    this.path = path;
    this.size = size;
    this.content = content;
    this.known = known;
  }

  get withheldLines(): number {
    const { withheld } = this.known;
    return withheld.length === 0 ? 0 : withheld.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  }

  get language(): string | null {
    return detectLanguage(this.path) ?? this.known.script;
  }

  get state(): TextFile["state"] {
    return this.reason === undefined ? "indexed" : "searched";
  }

  get reason(): string | undefined {
    const verdict = nameVerdict(this.path);
    if (!verdict.take) return verdict.reason;
    if (this.language === null) return "unknown_type";
    return this.size > DEFAULT_MAX_FILE_SIZE_BYTES ? "too_large" : this.known.reason;
  }
}

/** A text file of a work tree, with what is known of its bytes as they were when it was examined. */
class WorkTreeText extends SearchedText {
  declare readonly known: KnownText;

  constructor(path: string, size: number, known: KnownText) {
    super(path, size, path, known);
  }
}
