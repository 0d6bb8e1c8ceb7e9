/** Exact search over the texts of a scope: order, totals, budget and completeness are decided here, for every adapter. */
import { compileGlobs } from "../../lib/globs.ts";
import { createMatcher } from "./compile.ts";
import { FileScope } from "./file-scope.ts";
import { GrepSearch } from "./grep-search.ts";
import type { Matcher } from "./matcher.ts";
import { RegexEngine } from "./rust-regex.ts";
import type { FileBytes, GrepAnswer, GrepRequest, RevisionTexts, TextFile } from "./types.ts";

export interface GrepOptions {
  /** Bytes of candidates that are read. */
  maxBytes?: number;
  maxMs?: number;
  now?: () => number;
}

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_MS = 2_000;

/**
 * Every line that matches, in order of file and line: sources before tests, documents, examples and generated files, then by path. Counting
 * goes on past the limits, until the budget is used up. Throws `PatternError` and `GlobError` for a request that cannot be answered.
 */
export async function runGrep(
  texts: RevisionTexts,
  request: GrepRequest,
  { maxBytes = MAX_BYTES, maxMs = texts.maxMs ?? MAX_MS, now = () => performance.now() }: GrepOptions = {},
): Promise<GrepAnswer> {
  const budget = { maxBytes, deadline: now() + maxMs, now };
  const passes = fileFilter(request);
  const { matcher, engine } = await newMatcher(texts, request);
  try {
    const all = await texts.files();
    const contentsDiffer = texts.contentsDiffer === true;
    const scope = passes ? new FileScope(all.filter(passes), contentsDiffer) : FileScope.of(all, contentsDiffer);
    const search = new GrepSearch(request, matcher, scope);
    const key = tallyKey(request, maxBytes);
    const known = texts.tallies?.get(key);
    if (known === undefined || !search.resume(known)) {
      const isCandidate = await texts.candidates(matcher.query, search.contents);
      const numbers = [...search.contents.keys()];
      const wanted = search.expect(isCandidate ? numbers.filter(isCandidate) : numbers);
      const isInTime = await readWithin(budget, texts, search, wanted, (text) => search.count(text));
      if (isInTime && search.isRead) texts.tallies?.set(key, search.tally());
    }
    // Of a further page only its own files are read, within a time of their own: counting may have used up the first one.
    const rest = { ...budget, deadline: now() + maxMs };
    await readWithin(rest, texts, search, search.openPage(), (text) => search.show(text));
    return await search.answer(texts);
  } finally {
    matcher.free();
    if (engine?.isSmall === true) idleEngine = engine;
  }
}

/** Reads texts as long as the budget lasts; those that are left are not searched. Returns whether there was time for all that it allows. */
async function readWithin(
  { maxBytes, deadline, now }: { maxBytes: number; deadline: number; now: () => number },
  texts: RevisionTexts,
  search: GrepSearch,
  wanted: readonly string[],
  onText: (text: FileBytes) => void,
): Promise<boolean> {
  if (wanted.length === 0) return true;
  const waiting = new Set(wanted);
  let bytes = 0;
  for await (const read of texts.read(wanted)) {
    if (!waiting.delete(read.content)) continue;
    if ("missing" in read) search.addMissing(read.content, read.missing);
    else {
      onText(read);
      bytes += read.bytes.length;
    }
    if (bytes >= maxBytes || now() >= deadline) break;
  }
  for (const content of waiting) search.addMissing(content, "budget");
  return waiting.size === 0 || bytes >= maxBytes;
}

/** What the lines that are found depend on, besides the texts. */
function tallyKey(
  { pattern, fixedStrings, ignoreCase, wordRegexp, multiline, paths, languages }: GrepRequest,
  maxBytes: number,
): string {
  return JSON.stringify([pattern, fixedStrings, ignoreCase, wordRegexp, multiline, paths, languages, maxBytes]);
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

/** Which files the request is about; undefined for all. Throws `GlobError`. */
function fileFilter({ paths = [], languages = [] }: GrepRequest): ((file: TextFile) => boolean) | undefined {
  if (paths.length === 0 && languages.length === 0) return undefined;
  const isPath = paths.length === 0 ? undefined : compileGlobs(paths, { field: "paths" });
  const wanted = new Set(languages.map((language) => language.toLowerCase()));
  return ({ path, language }) =>
    (isPath?.(path) ?? true) && (wanted.size === 0 || (language !== null && wanted.has(language)));
}
