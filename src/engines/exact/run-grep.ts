/** Exact search over the texts of a scope: order, totals, budget and completeness are decided here, for every adapter. */
import { GAPS, type NotSearched } from "../../contract/exact.ts";
import { compileGlobs } from "../../lib/globs.ts";
import { skipReason } from "../parsing/skip.ts";
import { compareUtf8 } from "../search/order.ts";
import { asideTraits, TRAIT } from "../search/paths.ts";
import { INCLUDED } from "../search/query.ts";
import { createMatcher } from "./compile.ts";
import { describeLines } from "./lines.ts";
import type { Matcher } from "./matcher.ts";
import { RegexEngine } from "./rust-regex.ts";
import { withoutMark } from "./utf8.ts";
import { type LineHit, scanLines } from "./scan.ts";
import type { FileBytes, FoundLine, GrepAnswer, GrepCoverage, GrepRequest, RevisionTexts, TextFile } from "./types.ts";

export interface GrepOptions {
  /** Bytes of candidates that are read. */
  maxBytes?: number;
  maxMs?: number;
  now?: () => number;
}

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_MS = 2_000;
/** Files whose absence is named. */
const MAX_GAPS = 100;
const CHARACTERS_PER_TOKEN = 4;
/** What a line costs besides its text. */
const LINE_TOKENS = 10;

const isGap = new Set<string>(GAPS);

/**
 * Every line that matches, in order of file and line: sources before tests, documents, examples and generated files, then by path. Counting
 * goes on past the limits, until the budget is used up. Throws `PatternError` and `GlobError` for a request that cannot be answered.
 */
export async function runGrep(
  texts: RevisionTexts,
  request: GrepRequest,
  { maxBytes = MAX_BYTES, maxMs = texts.maxMs ?? MAX_MS, now = () => performance.now() }: GrepOptions = {},
): Promise<GrepAnswer> {
  const deadline = now() + maxMs;
  const passes = fileFilter(request);
  const { matcher, engine } = await newMatcher(texts, request);
  try {
    const files = (await texts.files()).filter(passes);
    const search = new Search(request, matcher, files);
    const isCandidate = await texts.candidates(matcher.query, search.contents());
    const wanted = search.wanted(isCandidate);
    let bytes = 0;
    if (wanted.length > 0) {
      for await (const read of texts.read(wanted)) {
        if ("missing" in read) search.addMissing(read.content, read.missing);
        else {
          search.add(read);
          bytes += read.bytes.length;
        }
        if (bytes >= maxBytes || now() >= deadline) break;
      }
    }
    search.endWith("budget");
    return await search.answer(texts);
  } finally {
    matcher.free();
    if (engine?.isSmall === true) idleEngine = engine;
  }
}

/** An instance of the WebAssembly that nobody uses, for the next pattern. */
let idleEngine: RegexEngine | undefined;

async function newMatcher(
  texts: RevisionTexts,
  request: GrepRequest,
): Promise<{ matcher: Matcher; engine: RegexEngine | undefined }> {
  let engine: RegexEngine | undefined;
  const matcher = await createMatcher(request, async () => {
    engine = idleEngine ?? new RegexEngine(await texts.regexModule());
    idleEngine = undefined;
    return engine;
  });
  return { matcher, engine };
}

/** Files that the request is about. Throws `GlobError`. */
function fileFilter({ paths = [], languages = [] }: GrepRequest): (file: TextFile) => boolean {
  const isPath = paths.length === 0 ? undefined : compileGlobs(paths, { field: "paths" });
  const wanted = new Set(languages.map((language) => language.toLowerCase()));
  return ({ path, language }) =>
    (isPath?.(path) ?? true) && (wanted.size === 0 || (language !== null && wanted.has(language)));
}

interface FoundFile {
  file: TextFile;
  /** Listed after the sources. */
  isAside: boolean;
  lines: number;
  /** Its first lines, if the answer may reach it. */
  shown: FoundLine[];
}

class Search {
  readonly #request: GrepRequest;
  readonly #matcher: Matcher;
  readonly #byContent = new Map<string, TextFile[]>();
  readonly #waiting = new Set<string>();
  readonly #coverage: GrepCoverage = { files: 0, bytes: 0, notSearched: {}, withheldLines: 0 };
  readonly #gaps: GrepAnswer["gaps"] = [];
  #withheldIn: GrepAnswer["withheldIn"] = [];
  readonly #found: FoundFile[] = [];
  /** The first of them, in order, as far as the answer may reach. */
  readonly #window: FoundFile[] = [];
  #windowLines = 0;
  /** The last of the lines that the answer may hold. */
  readonly #last: number;
  readonly #isAside: (file: TextFile) => boolean;

  constructor(request: GrepRequest, matcher: Matcher, files: readonly TextFile[]) {
    this.#request = request;
    this.#matcher = matcher;
    this.#last = request.filesOnly === true || request.count === true ? 0 : request.offset + request.limit;
    const included = (request.include ?? []).reduce((traits, kind) => traits | INCLUDED[kind], 0);
    this.#isAside = (file) => (traitsOf(file) & ~included) !== 0;
    for (const file of files) {
      if (file.content === undefined) this.#leaveOut(file, file.reason as NotSearched);
      else {
        this.#coverage.files++;
        this.#coverage.bytes += file.size ?? 0;
        this.#coverage.withheldLines += file.withheldLines;
        const { revision, path, withheldLines: lines } = file;
        if (lines > 0 && this.#withheldIn.length < MAX_GAPS) this.#withheldIn.push({ revision, path, lines });
        const same = this.#byContent.get(file.content);
        if (same) same.push(file);
        else this.#byContent.set(file.content, [file]);
      }
    }
  }

  /** The texts of the files. */
  contents(): string[] {
    return [...this.#byContent.keys()];
  }

  /** The contents to be read. */
  wanted(isCandidate: ((content: string) => boolean) | undefined): string[] {
    for (const content of this.#byContent.keys()) if (isCandidate?.(content) ?? true) this.#waiting.add(content);
    return [...this.#waiting];
  }

  addMissing(content: string, reason: NotSearched): void {
    if (!this.#waiting.delete(content)) return;
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

  /** Counts what was not read. */
  endWith(reason: "budget"): void {
    for (const content of this.#waiting) this.addMissing(content, reason);
  }

  add({ content, bytes: stored, withheld }: FileBytes): void {
    if (!this.#waiting.delete(content)) return;
    const bytes = withoutMark(stored);
    const files = this.#byContent.get(content) ?? [];
    const hits: LineHit[] = [];
    let lines = 0;
    const { multiline = false, context } = this.#request;
    scanLines(this.#matcher, bytes, { multiline, withheld }, (hit) => {
      lines += hit.lineCount;
      if (hits.length < this.#last) hits.push(hit);
    });
    if (lines === 0) return;
    for (const file of files) {
      const found: FoundFile = { file, isAside: this.#isAside(file), lines, shown: [] };
      this.#found.push(found);
      if (this.#enterWindow(found)) found.shown = describeLines(file, bytes, hits, context);
    }
  }

  /** Whether the answer may reach a file, given those found so far. Drops the lines of files that it reaches no longer. */
  #enterWindow(found: FoundFile): boolean {
    const window = this.#window;
    let low = 0;
    let high = window.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareFound(window[middle] as FoundFile, found) < 0) low = middle + 1;
      else high = middle;
    }
    if (low === window.length && this.#windowLines >= this.#last) return false;
    window.splice(low, 0, found);
    this.#windowLines += found.lines;
    for (let end = window.at(-1); end && this.#windowLines - end.lines >= this.#last; end = window.at(-1)) {
      this.#windowLines -= end.lines;
      end.shown = [];
      window.pop();
    }
    return window.includes(found, Math.min(low, window.length));
  }

  #leaveOut({ revision, path }: TextFile, reason: NotSearched): void {
    const { notSearched } = this.#coverage;
    notSearched[reason] = (notSearched[reason] ?? 0) + 1;
    if (isGap.has(reason) && this.#gaps.length < MAX_GAPS) this.#gaps.push({ revision, path, reason });
  }

  async answer(texts: RevisionTexts): Promise<GrepAnswer> {
    const { offset, limit, maxTokens = Infinity, filesOnly = false, count = false } = this.#request;
    this.#found.sort(compareFound);
    const lines = this.#found.reduce((sum, file) => sum + file.lines, 0);
    const isOfFiles = filesOnly || count;
    const window = this.#window.flatMap(({ shown }) => shown).slice(offset, offset + limit);
    let tokens = 0;
    const matches = window.filter((line) => (tokens += tokensOf(line)) <= maxTokens);
    const files = this.#found
      .slice(offset, offset + limit)
      .map(({ file: { revision, path }, lines }) => ({ revision, path, lines }));
    await addEnclosing(texts, matches);
    const { notSearched, withheldLines } = this.#coverage;
    const shown = isOfFiles ? offset + files.length : offset + matches.length;
    return {
      matches,
      ...(isOfFiles && { files }),
      total: { lines, files: this.#found.length },
      complete: withheldLines === 0 && !Object.keys(notSearched).some((reason) => isGap.has(reason)),
      coverage: this.#coverage,
      gaps: this.#gaps,
      withheldIn: this.#withheldIn,
      truncated: shown < (isOfFiles ? this.#found.length : lines),
    };
  }
}

/** Kinds that a file is listed last for. What ranking leaves out by its name counts as generated. */
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
  const groups = [...Map.groupBy(matches, ({ revision, path }) => `${revision} ${path}`).values()];
  const names = await texts.enclosing(
    groups.map((group) => {
      const [{ revision, path }] = group as [FoundLine, ...FoundLine[]];
      return { revision, path, lines: group.map(({ line }) => line) };
    }),
  );
  for (const [i, group] of groups.entries())
    for (const [k, match] of group.entries()) match.enclosing = names[i]?.[k] ?? null;
}
