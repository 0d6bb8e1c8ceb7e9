import { classOf, IDEOGRAPH } from "../embedding/builtin/characters.ts";
import { grammarOf, isEnglish, plain, splitRun, translateGerman } from "./foreign.ts";
import { eachPosting, readPostings } from "./postings.ts";
import type { ParsedQuery, QueryTerm } from "./query.ts";
import { scanTerms } from "./scanner.ts";
import type { SearchIndex } from "./search-index.ts";
import type { Understood } from "./types.ts";
import { MisspeltWord, readWords } from "./vocabulary.ts";

/**
 * Makes something of the words of a short query that are nowhere in the index: words of other languages become English ones, misspelt words
 * those of the repository's names that are nearest. Loaded when a query has such words.
 */

/** Misspelt words of a query that are looked up. */
const MAX_MISSPELT = 8;
/** Words that an answer names. */
const MAX_UNDERSTOOD = 32;
/**
 * Words that all misspelt words of a query together are compared with, letter by letter. Among the 9,600 words of four public repositories
 * 740 at most passed the quick test of one misspelt word; a repository made for it has any number.
 */
const MAX_COMPARED = 10_000;
/** Near words whose frequencies are compared. */
const MAX_NEAR = 32;
/** In larger indexes words are not corrected: all their names would have to be read. */
const MAX_DOCUMENTS = 400_000;
const CORRECTABLE = /^[a-z]{5,24}$/;

/** What was understood (nothing if only words of grammar are left out), and the query's text with it. */
export interface Reading {
  understood: Understood[];
  rewrite(text: string): string;
}

/** Undefined if nothing is to be changed. `unknown` are the words that are nowhere in the index. */
export async function understand(
  index: SearchIndex,
  { title, terms }: ParsedQuery,
  unknown: ReadonlySet<number>,
): Promise<Reading | undefined> {
  const outsideQuotes = new Set(hashesOf(title));
  const words = terms.filter(
    ({ hash, isWhole, shown }) => outsideQuotes.has(hash) && !isWhole && !isIdeographic(shown),
  );
  const asked = wordsOf(title);
  const grammar = grammarOf(asked);
  const mayBeGerman = grammar !== undefined || !isEnglish(asked);
  const understood: Understood[] = [];
  const replaced = new Map<number, string>();
  const misspelt: QueryTerm[] = [];
  for (const term of words) {
    const isUnknown = unknown.has(term.hash);
    const english = mayBeGerman && (grammar !== undefined || isUnknown) ? translationOf(term) : undefined;
    if (grammar?.has(plain(term.shown)) === true) replaced.set(term.hash, "");
    else if (english !== undefined) {
      replaced.set(term.hash, isUnknown ? ` ${english} ` : ` ${term.shown} ${english} `);
      understood.push({ word: term.shown, as: english });
    } else if (isUnknown && CORRECTABLE.test(plain(term.shown))) misspelt.push(term);
  }
  for (const [hash, { word, as }] of await correct(index, misspelt.slice(0, MAX_MISSPELT))) {
    replaced.set(hash, as);
    understood.push({ word, as });
  }
  const known = new Set(terms.filter(({ hash }) => !unknown.has(hash)).map(({ shown }) => shown));
  const runs = new Map<string, string>();
  for (const run of runsOf(title)) {
    if (runs.has(run)) continue;
    const parts = splitRun(run);
    const translated = parts.filter(({ english }) => english !== undefined && english !== "");
    if (translated.length === 0) continue;
    for (const { text, english } of translated) addOnce(understood, { word: text, as: english ?? "" });
    const others = parts.filter(({ text, english }) => english === undefined && !KANA_ENDINGS.test(text));
    const by = [
      ...knownSpans(run, known),
      ...others.map(({ text }) => text),
      ...translated.map(({ english }) => english),
    ];
    runs.set(run, [...new Set(by)].join(" "));
  }
  if (understood.length === 0 && replaced.size === 0) return undefined;
  return {
    understood: understood.slice(0, MAX_UNDERSTOOD),
    rewrite: (text) => withRuns(withWords(text, replaced), runs),
  };
}

/** English for a German word; undefined where it is a form of the word itself, as "parse" for "parse". */
function translationOf({ hash, shown }: QueryTerm): string | undefined {
  const english = translateGerman(shown);
  return english === undefined || hashesOf(english).every((own) => own === hash) ? undefined : english;
}

/** Hashes of the words of a text. */
function hashesOf(text: string): number[] {
  const hashes: number[] = [];
  scanTerms(text, { word: (hash) => hashes.push(hash), whole: () => undefined });
  return hashes;
}

/** Words of a question, as written. */
function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}'-]+/gu)?.slice(0, 64) ?? [];
}

function isIdeographic(text: string): boolean {
  return classOf(text.charCodeAt(0)) === IDEOGRAPH;
}

const RUN = /[\u3040-\u9fff\uac00-\ud7af]+/g;
/** What stands between Japanese words, as far as the glossary lacks it. */
const KANA_ENDINGS = /^[\u3041-\u309f]*$/;

function runsOf(text: string): string[] {
  return text.match(RUN) ?? [];
}

function addOnce(understood: Understood[], added: Understood): void {
  if (!understood.some(({ word }) => word === added.word)) understood.push(added);
}

/** The longest parts of the run whose pairs of neighbours all occur in the index. */
function knownSpans(run: string, known: ReadonlySet<string>): string[] {
  const spans: string[] = [];
  let start = 0;
  for (let at = 0; at < run.length; at++) {
    if (known.has(run.slice(at, at + 2))) continue;
    if (at > start) spans.push(run.slice(start, at + 1));
    start = at + 1;
  }
  return spans;
}

function withWords(text: string, replaced: ReadonlyMap<number, string>): string {
  const pieces: string[] = [];
  let from = 0;
  scanTerms(text, {
    word: (hash, start, end) => {
      const by = replaced.get(hash);
      if (by === undefined || start < from || isIdeographic(text.slice(start, end))) return;
      pieces.push(text.slice(from, start), inCaseOf(text.slice(start, end), by));
      from = end;
    },
    whole: () => undefined,
  });
  return pieces.join("") + text.slice(from);
}

/** `readSesion` becomes `readSession`, so that it still is a name of two words. */
function inCaseOf(word: string, by: string): string {
  return /^[A-Z]/.test(word) ? by.replace(/^[a-z]/, (letter) => letter.toUpperCase()) : by;
}

function withRuns(text: string, runs: ReadonlyMap<string, string>): string {
  return text.replace(RUN, (run) => {
    const by = runs.get(run);
    return by === undefined ? run : ` ${by} `;
  });
}

/** For each misspelt word with a near one: what it is taken for, by its hash. */
async function correct(index: SearchIndex, misspelt: readonly QueryTerm[]): Promise<Map<number, Understood>> {
  const found = new Map<number, Understood>();
  if (misspelt.length === 0 || index.documentCount > MAX_DOCUMENTS) return found;
  const ofNames = await Promise.all(index.segments.map(({ words }) => readWords(words)));
  let left = MAX_COMPARED;
  for (const { hash, shown } of misspelt) {
    const wanted = new MisspeltWord(plain(shown));
    const candidates = new Set<string>();
    for (const words of [index.pathWords, ...ofNames])
      for (const word of words) if (wanted.mayBe(word)) candidates.add(word);
    // Which of too many are the nearest would depend on which were compared, so the word is left as written.
    if (candidates.size > left) continue;
    left -= candidates.size;
    const near = new Map<string, number>();
    for (const word of candidates) {
      const slips = wanted.slipsTo(word);
      if (slips !== undefined) near.set(word, slips);
    }
    const as = await mostFrequent(index, near, shown.length);
    if (as !== undefined) found.set(hash, { word: shown, as });
  }
  return found;
}

/** Of the words with the fewest slips that occur in the revisions, the one with most documents and paths; of its forms the one of nearest length. */
async function mostFrequent(
  index: SearchIndex,
  near: ReadonlyMap<string, number>,
  length: number,
): Promise<string | undefined> {
  const words = [...near.keys()].sort().slice(0, MAX_NEAR);
  const counts = await documentCounts(index, words);
  const occurring = words.map((word, i) => ({ word, slips: near.get(word) ?? 0, count: counts[i] ?? 0 }));
  const farFrom = ({ word }: { word: string }): number => Math.abs(word.length - length);
  const [best] = occurring
    .filter(({ count }) => count > 0)
    .sort((a, b) => a.slips - b.slips || b.count - a.count || farFrom(a) - farFrom(b));
  return best?.word;
}

/** Number of documents and paths that have each word. */
async function documentCounts(index: SearchIndex, words: readonly string[]): Promise<number[]> {
  const hashes = words.map((word) => hashesOf(word)[0] ?? 0);
  const counts = words.map(() => 0);
  const lists = await Promise.all(index.segments.map(({ terms }) => readPostings(terms, hashes)));
  for (const [segment, own] of lists.entries())
    for (const [i, list] of own.entries())
      if (list)
        eachPosting(list, (chunk) => {
          let document = index.documentOfChunk[segment]?.[chunk] ?? -1;
          for (; document >= 0; document = index.nextDocument[document] as number) counts[i] = (counts[i] ?? 0) + 1;
        });
  const paths = await Promise.all(index.tables.map(({ terms }) => readPostings(terms, hashes)));
  for (const own of paths) for (const [i, list] of own.entries()) counts[i] = (counts[i] ?? 0) + (list?.count ?? 0);
  return counts;
}
