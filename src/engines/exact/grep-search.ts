/** One exact search: counts what is found, and picks and describes the lines of the page that was asked for. */
import { GAPS, type NotSearched } from "../../contract/not-searched.ts";
import { skipReason } from "../parsing/skip.ts";
import { compareUtf8, firstWhere } from "../search/order.ts";
import { asideTraits, INCLUDED, TRAIT } from "../search/traits.ts";
import { describeLines, linesByFile } from "./lines.ts";
import type { Matcher } from "./matcher.ts";
import { addRanges, type LineHit, scanLines } from "./scan.ts";
import type {
  FileBytes,
  FoundLine,
  GrepAnswer,
  GrepCoverage,
  GrepRequest,
  RevisionTexts,
  Tally,
  TextFile,
} from "./types.ts";
import { withoutMark } from "./utf8.ts";

/** Most files that an answer lists as not searched. */
const MAX_GAPS = 100;
const CHARACTERS_PER_TOKEN = 4;
/** What a line costs besides its text. */
const LINE_TOKENS = 10;
/** Numbers that a tally holds for each text. */
const TALLY_FIELDS = 3;

const isGap = new Set<string>(GAPS);

interface FoundFile {
  file: TextFile;
  /** Listed after the sources. */
  isAside: boolean;
  /** Matches, of which one over several lines is one; and matching lines. */
  hits: number;
  lines: number;
  /** Its matches as far as the first page may reach them; undefined if its text must be read again. */
  first: FoundLine[] | undefined;
}

/** The matches of a file that are on the page. */
interface PagePart {
  file: TextFile;
  from: number;
  to: number;
  shown: FoundLine[] | undefined;
}

/** Counts all matches, then picks the page. Lines that the first page may reach are described while they are counted. */
export class GrepSearch {
  readonly #request: GrepRequest;
  readonly #matcher: Matcher;
  readonly #files: readonly TextFile[];
  /** The distinct texts of the files. */
  readonly contents: readonly string[];
  /** Files of the texts that may be read: most requests read few of many. */
  readonly #byContent = new Map<string, TextFile[]>();
  readonly #coverage: GrepCoverage = { files: 0, bytes: 0, notSearched: {}, withheldLines: 0 };
  readonly #gaps: GrepAnswer["gaps"] = [];
  #withheldIn: GrepAnswer["withheldIn"] = [];
  readonly #found = new Map<string, FoundFile[]>();
  /** The first files, in order, as far as the first page may reach. */
  readonly #window: FoundFile[] = [];
  #windowHits = 0;
  #isWhole = true;
  #page: PagePart[] = [];
  readonly #listsFiles: boolean;
  readonly #isAside: (file: TextFile) => boolean;

  /** `contentsDiffer`: see `RevisionTexts`. */
  constructor(request: GrepRequest, matcher: Matcher, files: readonly TextFile[], contentsDiffer = false) {
    this.#request = request;
    this.#matcher = matcher;
    this.#listsFiles = request.filesOnly === true || request.count === true;
    const included = (request.include ?? []).reduce((traits, kind) => traits | INCLUDED[kind], 0);
    this.#isAside = (file) => (traitsOf(file) & ~included) !== 0;
    this.#files = files;
    const contents: string[] = [];
    const coverage = this.#coverage;
    for (const file of files) {
      const { content, size, withheldLines: lines } = file;
      if (content === undefined) {
        this.#leaveOut(file, file.reason as NotSearched);
        continue;
      }
      contents.push(content);
      coverage.files++;
      coverage.bytes += size ?? 0;
      if (lines === 0) continue;
      coverage.withheldLines += lines;
      if (this.#withheldIn.length < MAX_GAPS)
        this.#withheldIn.push({ revision: file.revision, path: file.path, lines });
    }
    this.contents = contentsDiffer ? contents : [...new Set(contents)];
  }

  /** Must be called with the texts that are read, before they are. */
  expect(contents: readonly string[]): void {
    if (contents.length === 0) return;
    const wanted = new Set(contents);
    for (const file of this.#files) {
      if (file.content === undefined || !wanted.has(file.content)) continue;
      const same = this.#byContent.get(file.content);
      if (same) same.push(file);
      else this.#byContent.set(file.content, [file]);
    }
  }

  /** Whether no text is missing so far. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** A text that could not be read. */
  addMissing(content: string, reason: NotSearched): void {
    this.#isWhole = false;
    this.#found.delete(content);
    for (const file of this.#byContent.get(content) ?? []) {
      this.#coverage.files--;
      this.#coverage.bytes -= file.size ?? 0;
      this.#coverage.withheldLines -= file.withheldLines;
      if (file.withheldLines > 0)
        this.#withheldIn = this.#withheldIn.filter(
          ({ revision, path }) => revision !== file.revision || path !== file.path,
        );
      this.#leaveOut(file, reason);
    }
  }

  /** Counts the matches of a text. */
  count(text: FileBytes): void {
    const { offset, limit } = this.#request;
    const files = this.#byContent.get(text.content) ?? [];
    const isNear = !this.#listsFiles && offset === 0 && files.some((file) => this.#mayEnterWindow(file));
    const { wanted, hits, lines } = this.#scan(text, 0, isNear ? limit : 0);
    for (const found of this.#add(text.content, hits, lines))
      if (isNear && this.#enterWindow(found)) found.first = this.#describe(found.file, text, wanted);
  }

  /** What was found, for a further page. */
  tally(): Tally {
    const found: number[] = [];
    for (const [position, content] of this.contents.entries()) {
      const first = this.#found.get(content)?.[0];
      if (first) found.push(position, first.hits, first.lines);
    }
    return { contents: this.contents.length, found: Uint32Array.from(found) };
  }

  /** Takes what was found from a tally instead of counting. False if it is of other texts. */
  resume({ contents, found }: Tally): boolean {
    if (contents !== this.contents.length) return false;
    const known: [content: string, hits: number, lines: number][] = [];
    for (let at = 0; at < found.length; at += TALLY_FIELDS) {
      const [position = 0, hits = 0, lines = 0] = found.subarray(at, at + TALLY_FIELDS);
      known.push([this.contents[position] as string, hits, lines]);
    }
    this.expect(known.map(([content]) => content));
    for (const [content, hits, lines] of known) this.#add(content, hits, lines);
    return true;
  }

  /** Picks the lines of the page when all are counted. Returns the texts that must be read for them. */
  openPage(): string[] {
    if (this.#listsFiles) return [];
    const { offset, limit } = this.#request;
    const contents = new Set<string>();
    let before = 0;
    for (const { file, hits, first } of this.#sorted()) {
      const from = Math.max(0, offset - before);
      const to = Math.min(hits, offset + limit - before);
      before += hits;
      if (from >= to) continue;
      this.#page.push({ file, from, to, shown: first?.slice(from, to) });
      if (!first && file.content !== undefined) contents.add(file.content);
    }
    return [...contents];
  }

  /** Describes the lines of a text that are on the page. */
  show(text: FileBytes): void {
    for (const part of this.#page)
      if (part.file.content === text.content)
        part.shown = this.#describe(part.file, text, this.#scan(text, part.from, part.to).wanted);
  }

  async answer(texts: RevisionTexts): Promise<GrepAnswer> {
    const { offset, limit, maxTokens = Infinity } = this.#request;
    const all = this.#sorted();
    const lines = all.reduce((sum, file) => sum + file.lines, 0);
    const hits = all.reduce((sum, file) => sum + file.hits, 0);
    let tokens = 0;
    const page = this.#page.flatMap(({ shown = [] }) => shown);
    const matches = page.filter((line) => (tokens += tokensOf(line)) <= maxTokens);
    const files = all
      .slice(offset, offset + limit)
      .map(({ file: { revision, path }, lines }) => ({ revision, path, lines }));
    await addEnclosing(texts, matches);
    const { notSearched, withheldLines } = this.#coverage;
    return {
      matches,
      ...(this.#listsFiles && { files }),
      total: { lines, files: all.length },
      complete: withheldLines === 0 && !Object.keys(notSearched).some((reason) => isGap.has(reason)),
      coverage: this.#coverage,
      gaps: this.#gaps,
      withheldIn: this.#withheldIn,
      truncated: this.#listsFiles ? offset + files.length < all.length : offset + matches.length < hits,
    };
  }

  #sorted(): FoundFile[] {
    return [...this.#found.values()].flat().sort(compareFound);
  }

  /** The matches of a text: how many there are, and those of a range. */
  #scan({ bytes, withheld }: FileBytes, from: number, to: number): { wanted: LineHit[]; hits: number; lines: number } {
    const wanted: LineHit[] = [];
    let [hits, lines] = [0, 0];
    const text = withoutMark(bytes);
    const multiline = this.#request.multiline === true;
    scanLines(this.#matcher, text, { multiline, withheld }, (hit) => {
      if (hits >= from && hits < to) wanted.push(hit);
      hits++;
      lines += hit.lineCount;
    });
    if (!multiline) addRanges(this.#matcher, text, wanted);
    return { wanted, hits, lines };
  }

  #describe(file: TextFile, { bytes }: FileBytes, hits: readonly LineHit[]): FoundLine[] {
    return describeLines(file, withoutMark(bytes), hits, this.#request.context);
  }

  #add(content: string, hits: number, lines: number): FoundFile[] {
    if (hits === 0) return [];
    const files = this.#byContent.get(content) ?? [];
    const found = files.map((file) => this.#foundFile(file, hits, lines));
    this.#found.set(content, found);
    return found;
  }

  #foundFile(file: TextFile, hits: number, lines: number): FoundFile {
    return { file, isAside: this.#isAside(file), hits, lines, first: undefined };
  }

  /** Whether the first page may reach a file if it has matches, given those found so far. */
  #mayEnterWindow(file: TextFile): boolean {
    const last = this.#window.at(-1);
    return !last || this.#windowHits < this.#request.limit || compareFound(this.#foundFile(file, 0, 0), last) < 0;
  }

  /** Whether the first page may reach a file, given those found so far. Drops the lines of files that it reaches no longer. */
  #enterWindow(found: FoundFile): boolean {
    const { limit } = this.#request;
    const window = this.#window;
    const position = firstWhere(window.length, (at) => compareFound(window[at] as FoundFile, found) >= 0);
    if (position === window.length && this.#windowHits >= limit) return false;
    window.splice(position, 0, found);
    this.#windowHits += found.hits;
    for (let end = window.at(-1); end && this.#windowHits - end.hits >= limit; end = window.at(-1)) {
      this.#windowHits -= end.hits;
      end.first = undefined;
      window.pop();
    }
    return window.includes(found, Math.min(position, window.length));
  }

  #leaveOut({ revision, path }: TextFile, reason: NotSearched): void {
    const { notSearched } = this.#coverage;
    notSearched[reason] = (notSearched[reason] ?? 0) + 1;
    if (isGap.has(reason) && this.#gaps.length < MAX_GAPS) this.#gaps.push({ revision, path, reason });
  }
}

/** Traits for which a file is listed after the sources. A file that ranking skips by its name counts as generated. */
function traitsOf({ path, language, state }: TextFile): number {
  return (
    asideTraits(path, language ?? "") | (state === "searched" && skipReason(path) !== undefined ? TRAIT.generated : 0)
  );
}

function compareFound(a: FoundFile, b: FoundFile): number {
  return (
    Number(a.isAside) - Number(b.isAside) || a.file.revision - b.file.revision || compareUtf8(a.file.path, b.file.path)
  );
}

function tokensOf({ text, before, after }: FoundLine): number {
  const characters = [text, ...before, ...after].reduce((sum, line) => sum + line.length, 0);
  return LINE_TOKENS + Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

async function addEnclosing(texts: RevisionTexts, matches: readonly FoundLine[]): Promise<void> {
  if (matches.length === 0) return;
  const groups = linesByFile(matches);
  const names = await texts.enclosing(
    groups.map((group) => ({
      revision: group[0].revision,
      path: group[0].path,
      lines: group.map(({ line }) => line),
    })),
  );
  for (const [i, group] of groups.entries())
    for (const [k, match] of group.entries()) match.enclosing = names[i]?.[k] ?? null;
}
