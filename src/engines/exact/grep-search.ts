/** One exact search: counts what is found, and picks and describes the lines of the page that was asked for. */
import type { NotSearched } from "../../contract/not-searched.ts";
import { firstWhere } from "../search/order.ts";
import { INCLUDED } from "../search/traits.ts";
import { addGap, type FileScope, isGap } from "./file-scope.ts";
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

const CHARACTERS_PER_TOKEN = 4;
/** What a line costs besides its text. */
const LINE_TOKENS = 10;
/** Numbers that a tally holds for each text. */
const TALLY_FIELDS = 3;

interface FoundFile {
  file: TextFile;
  /** Its position among all, and the number of its text. */
  at: number;
  number: number;
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
  number: number;
  from: number;
  to: number;
  shown: FoundLine[] | undefined;
}

/** Counts all matches, then picks the page. Lines that the first page may reach are described while they are counted. */
export class GrepSearch {
  readonly #request: GrepRequest;
  readonly #matcher: Matcher;
  readonly #scope: FileScope;
  /** Numbers of the texts that may be read: most requests read few of many. */
  readonly #numbers = new Map<string, number>();
  readonly #coverage: GrepCoverage;
  readonly #gaps: GrepAnswer["gaps"];
  #withheldIn: GrepAnswer["withheldIn"];
  /** By the number of their text. */
  readonly #found = new Map<number, FoundFile[]>();
  /** The first files, in order, as far as the first page may reach. */
  readonly #window: FoundFile[] = [];
  #windowHits = 0;
  /** Numbers of the texts that the budget has left out. */
  readonly #left: number[] = [];
  #isRead = true;
  #page: PagePart[] = [];
  readonly #listsFiles: boolean;
  /** Traits for which a file is listed after the sources. */
  readonly #asideTraits: number;

  constructor(request: GrepRequest, matcher: Matcher, scope: FileScope) {
    this.#request = request;
    this.#matcher = matcher;
    this.#scope = scope;
    this.#listsFiles = request.filesOnly === true || request.count === true;
    this.#asideTraits = ~(request.include ?? []).reduce((traits, kind) => traits | INCLUDED[kind], 0);
    this.#coverage = { ...scope.coverage, notSearched: { ...scope.coverage.notSearched } };
    this.#gaps = [...scope.gaps];
    this.#withheldIn = [...scope.withheldIn];
  }

  /** The distinct texts of the files. */
  get contents(): readonly string[] {
    return this.#scope.contents;
  }

  /** Returns the texts with some numbers. Call it before they are read: `count`, `show` and `addMissing` take only texts that are expected. */
  expect(numbers: readonly number[]): string[] {
    return numbers.map((number) => {
      const content = this.contents[number] as string;
      this.#numbers.set(content, number);
      return content;
    });
  }

  /** Whether all texts could be read so far, except those that the budget has left out. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** A text that could not be read. */
  addMissing(content: string, reason: NotSearched): void {
    const number = this.#numbers.get(content);
    if (number === undefined) return;
    if (reason === "budget") this.#left.push(number);
    else this.#isRead = false;
    this.#found.delete(number);
    for (const at of this.#scope.having(number)) {
      const file = this.#scope.files[at] as TextFile;
      this.#coverage.files--;
      this.#coverage.bytes -= file.size ?? 0;
      this.#coverage.withheldLines -= file.withheldLines;
      if (file.withheldLines > 0)
        this.#withheldIn = this.#withheldIn.filter(
          ({ revision, path }) => revision !== file.revision || path !== file.path,
        );
      addGap(this.#coverage, this.#gaps, file, reason);
    }
  }

  /** Counts the matches of a text. */
  count(text: FileBytes): void {
    const { offset, limit } = this.#request;
    const number = this.#numbers.get(text.content);
    if (number === undefined) return;
    const isNear = !this.#listsFiles && offset === 0 && this.#mayEnterWindow(number);
    const { wanted, hits, lines } = this.#scan(text, 0, isNear ? limit : 0);
    for (const found of this.#add(number, hits, lines))
      if (isNear && this.#enterWindow(found)) found.first = this.#describe(found.file, text, wanted);
  }

  /** What was found, for a further page. */
  tally(): Tally {
    const found: number[] = [];
    for (const [number, [first]] of this.#found) if (first) found.push(number, first.hits, first.lines);
    return { contents: this.contents.length, found: Uint32Array.from(found), left: Uint32Array.from(this.#left) };
  }

  /** Takes what was found from a tally instead of counting. False if it is of other texts. */
  resume({ contents, found, left }: Tally): boolean {
    if (contents !== this.contents.length) return false;
    for (let i = 0; i < found.length; i += TALLY_FIELDS)
      this.#add(found[i] as number, found[i + 1] as number, found[i + 2] as number);
    for (const content of this.expect([...left])) this.addMissing(content, "budget");
    return true;
  }

  /** Picks the lines of the page when all are counted. Returns the texts that must be read for them. */
  openPage(): string[] {
    if (this.#listsFiles) return [];
    const { offset, limit } = this.#request;
    const numbers = new Set<number>();
    let before = 0;
    for (const { file, number, hits, first } of this.#sorted()) {
      const from = Math.max(0, offset - before);
      const to = Math.min(hits, offset + limit - before);
      before += hits;
      if (from >= to) continue;
      this.#page.push({ file, number, from, to, shown: first?.slice(from, to) });
      if (!first) numbers.add(number);
    }
    return this.expect([...numbers]);
  }

  /** Describes the lines of a text that are on the page. */
  show(text: FileBytes): void {
    const number = this.#numbers.get(text.content);
    for (const part of this.#page)
      if (part.number === number)
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
      complete: withheldLines === 0 && !Object.keys(notSearched).some(isGap),
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

  #add(number: number, hits: number, lines: number): FoundFile[] {
    if (hits === 0) return [];
    const found: FoundFile[] = [];
    for (const at of this.#scope.having(number)) {
      const file = this.#scope.files[at] as TextFile;
      found.push({ file, at, number, isAside: this.#isAside(at), hits, lines, first: undefined });
    }
    this.#found.set(number, found);
    return found;
  }

  #isAside(at: number): boolean {
    return (this.#scope.traitsAt(at) & this.#asideTraits) !== 0;
  }

  /** Whether the first page may reach a file of a text if it has matches, given those found so far. */
  #mayEnterWindow(number: number): boolean {
    const last = this.#window.at(-1);
    if (!last || this.#windowHits < this.#request.limit) return true;
    for (const at of this.#scope.having(number))
      if (compareFound({ at, isAside: this.#isAside(at) }, last) < 0) return true;
    return false;
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
}

function compareFound(a: Pick<FoundFile, "at" | "isAside">, b: Pick<FoundFile, "at" | "isAside">): number {
  return Number(a.isAside) - Number(b.isAside) || a.at - b.at;
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
