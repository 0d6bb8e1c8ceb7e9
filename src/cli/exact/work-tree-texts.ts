import { DEFAULT_MAX_FILE_SIZE_BYTES, MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import { detectLanguage } from "../../engines/parsing/detect.ts";
import { nameVerdict } from "../../engines/parsing/name-verdict.ts";
import type { InspectedText } from "../../engines/exact/inspect.ts";
import { blankLines } from "../../engines/parsing/secrets/lines.ts";
import { mayHold } from "../../engines/exact/ngram-filter.ts";
import type { FileBytes, MissingText, RevisionTexts, TextFile } from "../../engines/exact/types.ts";
import { compareUtf8 } from "../../engines/search/order.ts";
import type { FileListing } from "../git/git.ts";
import { type FileStat, isRacy, isSameStat } from "../indexing/file-stat.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { type IgnoreRules, readCodectxIgnores } from "../indexing/ignore-rules.ts";
import { regexModule } from "./regex-module.ts";
import type { TextCache } from "./text-cache.ts";

/** Most texts are shorter: they are read into the same buffer, one after another. */
const READ_BYTES = 512 * 1024;

/** Nothing else waits for this process, and the first search examines all files. Well within the minute that clients wait. */
export const LOCAL_MAX_MS = 10_000;

/** A file that is searched, with what is known of its bytes as they were when it had this state. */
interface KnownText {
  file: TextFile;
  inspected: InspectedText;
  stat: FileStat;
}

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
  const tree = new FileTree(given.root);
  let examined: Promise<Map<string, KnownText | TextFile>> | undefined;
  const examine = () => (examined ??= examineFiles(tree, given));
  const isKnown = (entry: KnownText | TextFile | undefined): entry is KnownText =>
    entry !== undefined && "inspected" in entry;
  return {
    maxMs: LOCAL_MAX_MS,
    files: async () => [...(await examine()).values()].map((entry) => (isKnown(entry) ? entry.file : entry)),
    candidates: async (query) => {
      const entries = await examine();
      return (content) => {
        const entry = entries.get(content);
        return !isKnown(entry) || mayHold(entry.inspected.filter, query);
      };
    },
    regexModule,
    async *read(contents): AsyncGenerator<FileBytes | MissingText> {
      const entries = await examine();
      const buffer = new Uint8Array(READ_BYTES);
      for (const [i, content] of contents.entries()) {
        given.onProgress?.(i + 1, contents.length);
        const entry = entries.get(content);
        yield isKnown(entry) ? await readText(tree, content, entry, buffer) : { content, missing: "unreadable" };
      }
    },
    enclosing: given.enclosing,
  };
}

/** The text of one file and its language; undefined if it is not searched. */
export async function workTreeText(
  { root, listing, nowMs }: Pick<WorkTree, "root" | "listing" | "nowMs">,
  path: string,
): Promise<{ text: FileBytes; language: string | null } | undefined> {
  const tree = new FileTree(root);
  const paths = listing.paths();
  const entry = paths.includes(path)
    ? await examineFile(tree, path, readCodectxIgnores(tree, paths), undefined, nowMs)
    : undefined;
  if (entry === undefined || !("inspected" in entry)) return undefined;
  const text = await readText(tree, path, entry);
  return "bytes" in text ? { text, language: entry.file.language } : undefined;
}

/** The text of a file, read into `buffer` if it fits; one that has changed since it was examined is inspected again. */
async function readText(
  tree: FileTree,
  path: string,
  { inspected, stat }: KnownText,
  buffer?: Uint8Array<ArrayBuffer>,
): Promise<FileBytes | MissingText> {
  const bytes = tree.read(path, MAX_FILE_SIZE_BYTES + 1, buffer);
  if (!bytes || bytes.length > MAX_FILE_SIZE_BYTES) return { content: path, missing: "unreadable" };
  const after = tree.lstat(path);
  const isSame = after !== undefined && isSameStat(after, stat);
  const { reason, withheld } = isSame ? inspected : await inspect(bytes);
  if (reason === "binary" || reason === "lfs") return { content: path, missing: "unreadable" };
  return { content: path, bytes: blankLines(bytes, withheld), withheld };
}

/** As `inspectText`, which is loaded when a text is not known yet: what finds secrets takes longer to load than a search. */
export async function inspect(bytes: Uint8Array): Promise<InspectedText> {
  const { inspectText } = await import("../../engines/exact/inspect.ts");
  return inspectText(bytes);
}

/** All files by path, in order. Those whose bytes are not known yet are read. */
async function examineFiles(
  tree: FileTree,
  { listing, cache, nowMs, onProgress }: WorkTree,
): Promise<Map<string, KnownText | TextFile>> {
  const paths = listing.paths().toSorted(compareUtf8);
  const rules = readCodectxIgnores(tree, paths);
  const files = new Map<string, KnownText | TextFile>();
  let done = 0;
  for (const path of paths) {
    const examined = examineFile(tree, path, rules, cache, nowMs);
    // Nearly all files of a search are known, and waiting for nothing takes longer than they do.
    const entry = examined instanceof Promise ? await examined : examined;
    if (entry) files.set(path, entry);
    onProgress?.(++done, paths.length);
  }
  for (let i = 1; i <= listing.unreadable; i++) {
    const path = `(unreadable folder ${i})`;
    files.set(path, notSearched(path, "unreadable"));
  }
  cache.save({ keepsAll: false });
  return files;
}

/** Undefined if nothing is there: git lists deleted files. A promise if its bytes are not known yet. */
function examineFile(
  tree: FileTree,
  path: string,
  rules: IgnoreRules,
  cache: TextCache | undefined,
  nowMs: number,
): KnownText | TextFile | undefined | Promise<KnownText | TextFile> {
  const stat = tree.lstat(path);
  if (!stat) {
    const irregular = tree.irregular(path);
    if (irregular) return notSearched(path, irregular);
    return tree.lstatFolder(path) ? notSearched(path, "submodule") : undefined;
  }
  if (rules.ignores(path)) return notSearched(path, "excluded", stat.size);
  if (stat.size > MAX_FILE_SIZE_BYTES) return notSearched(path, "too_large", stat.size);
  const { size, mtimeMs, ctimeMs, ino } = stat;
  const describe = (inspected: InspectedText): KnownText | TextFile => {
    const file = describeText(path, size, inspected);
    return file.content === undefined ? file : { file, inspected, stat: { size, mtimeMs, ctimeMs, ino } };
  };
  // The bytes of a file that has just changed may change again under the same key.
  const keeps = isRacy(stat, nowMs) ? undefined : cache;
  const known = keeps?.get(path, stat);
  if (known) return describe(known);
  const bytes = tree.read(path, MAX_FILE_SIZE_BYTES);
  if (!bytes) return notSearched(path, "unreadable", size);
  return inspect(bytes).then((inspected) => describe(keeps?.add(path, inspected, stat) ?? inspected));
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

/** A text file, ranked or not, by the rules of the index. */
export function describeText(path: string, size: number, inspected: InspectedText, content = path): TextFile {
  const { reason, withheld } = inspected;
  if (reason === "binary" || reason === "lfs") return notSearched(path, reason, size);
  const withheldLines = withheld.length === 0 ? 0 : withheld.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  return new SearchedText(path, size, content, withheldLines, inspected);
}

/** What its name says of a file is found when it is asked for: a search does so of the files that match. */
class SearchedText implements TextFile {
  readonly revision = 0;
  readonly path: string;
  readonly size: number;
  readonly content: string;
  readonly withheldLines: number;
  readonly #inspected: InspectedText;

  constructor(path: string, size: number, content: string, withheldLines: number, inspected: InspectedText) {
    this.path = path;
    this.size = size;
    this.content = content;
    this.withheldLines = withheldLines;
    this.#inspected = inspected;
  }

  get language(): string | null {
    return detectLanguage(this.path) ?? this.#inspected.script;
  }

  get state(): TextFile["state"] {
    return this.reason === undefined ? "indexed" : "searched";
  }

  get reason(): string | undefined {
    const verdict = nameVerdict(this.path);
    if (!verdict.take) return verdict.reason;
    if (this.language === null) return "unknown_type";
    return this.size > DEFAULT_MAX_FILE_SIZE_BYTES ? "too_large" : this.#inspected.reason;
  }
}
