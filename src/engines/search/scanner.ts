import { classOf, DIGIT, IDEOGRAPH, isLetter, JOINER, lowerOf, OTHER, UPPER } from "../embedding/builtin/characters.ts";
import { LANGUAGES, STOP_WORDS } from "../embedding/builtin/common-words.ts";
import { FNV_OFFSET, FNV_PRIME, mix } from "../embedding/builtin/scanner.ts";
import { stemLength } from "../embedding/builtin/stem.ts";

/**
 * Splits code and prose into terms in one pass, without creating strings. A term is a 32-bit hash; collisions are too rare to affect
 * ranking. `readHTTPHeaders` gives the words read, http, header (stemmed) and the whole
 * `readhttpheader`; `read_http_headers` and `readhttpheaders` give the same whole.
 */

/** Longer words (blobs, hashes) are split at this length. */
const MAX_WORD_UNITS = 48;
/** UTF-16 units of an identifier that its hash covers. */
const MAX_WHOLE_UNITS = 96;

/** Receives what `scanTerms` finds, in text order: the words of an identifier, then the identifier. Offsets are UTF-16 units. */
interface TermVisitor {
  /** A word of two or more characters that is not a stop word; `text.slice(start, end)` is its spelling. */
  word(hash: number, start: number, end: number): void;
  /** An identifier of two or more characters; with `parts` = 1 its hash is that of its only word, which is no stop word. */
  whole(hash: number, parts: number, start: number, end: number): void;
}

const word = new Uint16Array(MAX_WORD_UNITS);
const whole = new Uint16Array(MAX_WHOLE_UNITS);
const stemmed = new Uint16Array(MAX_WORD_UNITS);

/** Hash of the stem of the lower-case units; modifies them. */
function hashOf(units: Uint16Array, length: number): number {
  const stem = stemLength(units, length);
  let hash = FNV_OFFSET;
  for (let i = 0; i < stem; i++) hash = Math.imul(hash ^ (units[i] as number), FNV_PRIME);
  return mix(hash);
}

/** Hash of a word or identifier in lower case, as the scanner hashes it. */
function hashWord(text: string): number {
  const units = new Uint16Array(Math.min(text.length, MAX_WHOLE_UNITS));
  for (let i = 0; i < units.length; i++) units[i] = lowerOf(text.charCodeAt(i));
  return hashOf(units, units.length);
}

/** The stem of a word, in lower case. */
export function stemOf(text: string): string {
  const length = Math.min(text.length, MAX_WORD_UNITS);
  let isLower = true;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    const lower = lowerOf(unit);
    stemmed[i] = lower;
    if (lower !== unit) isLower = false;
  }
  const stem = stemLength(stemmed, length);
  // Most words are in lower case, and stemming only cuts them.
  if (isLower && (stem === 0 || stemmed[stem - 1] === text.charCodeAt(stem - 1))) return text.slice(0, stem);
  let result = "";
  for (let i = 0; i < stem; i++) result += String.fromCharCode(stemmed[i] as number);
  return result;
}

/** Words like "the" and "for", which are neither indexed nor looked up. */
const isStop = memberOf(STOP_WORDS);
const isNameOfLanguage = memberOf(LANGUAGES);

/** Whether a hash is that of one of the words. They are hashed when the first is asked for: not every search reads words. */
function memberOf(words: string): (hash: number) => boolean {
  let hashes: ReadonlySet<number> | undefined;
  return (hash) => (hashes ??= new Set(words.split(" ").map(hashWord))).has(hash);
}

/** Names of programming languages: people write them in queries, but code rarely names its own language. */
export function isLanguageName(hash: number): boolean {
  return isNameOfLanguage(hash);
}

/** Visits the terms of `text`. Linear in its length. */
export function scanTerms(text: string, visitor: TermVisitor): void {
  let wordLength = 0;
  let wordStart = 0;
  let wholeLength = 0;
  let wholeStart = -1;
  let parts = 0;
  let onlyHash = 0;
  let previous = OTHER;
  let ideograph = 0;

  const endWord = (end: number): void => {
    if (wordLength === 0) return;
    const hash = hashOf(word, wordLength);
    if (wordLength > 1 && !isStop(hash)) visitor.word(hash, wordStart, end);
    onlyHash = hash;
    parts++;
    wordLength = 0;
  };
  const endWhole = (end: number): void => {
    endWord(end);
    if (wholeLength > 1 && (parts > 1 || (parts === 1 && !isStop(onlyHash))))
      visitor.whole(parts === 1 ? onlyHash : hashOf(whole, wholeLength), parts, wholeStart, end);
    parts = 0;
    wholeLength = 0;
    wholeStart = -1;
  };

  for (let i = 0; i < text.length; i++) {
    const raw = text.charCodeAt(i);
    let kind = classOf(raw);
    if (kind === OTHER) {
      if (previous !== OTHER) endWhole(i);
      previous = OTHER;
      continue;
    }
    if (kind === IDEOGRAPH) {
      // These scripts have no spaces between words: every pair of neighbours counts as a word.
      if (previous !== IDEOGRAPH) endWhole(i);
      else visitor.word(mix(Math.imul(ideograph, FNV_PRIME) ^ raw), i - 1, i + 1);
      ideograph = raw;
      previous = IDEOGRAPH;
      continue;
    }
    if (kind === JOINER) {
      endWord(i);
      if (wholeStart < 0) wholeStart = i;
      previous = kind;
      continue;
    }
    if (kind === UPPER || kind === DIGIT) {
      if (previous !== kind) endWord(i);
    } else if (previous === DIGIT) {
      endWord(i);
    } else if (previous === UPPER && wordLength > 1) {
      if (raw === 0x73 && !isLetter(text, i + 1)) {
        // The plural of an acronym, as in URLs.
        kind = UPPER;
      } else {
        // HTTPServer: the last capital begins the next word.
        const last = word[--wordLength] as number;
        endWord(i - 1);
        wordStart = i - 1;
        word[wordLength++] = last;
      }
    }
    previous = kind;
    const unit = lowerOf(raw);
    if (wordLength === MAX_WORD_UNITS) endWord(i);
    if (wordLength === 0) wordStart = i;
    if (wholeStart < 0) wholeStart = i;
    word[wordLength++] = unit;
    if (wholeLength < MAX_WHOLE_UNITS) whole[wholeLength++] = unit;
  }
  endWhole(text.length);
}
