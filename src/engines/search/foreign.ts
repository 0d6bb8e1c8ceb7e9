import { STOP_WORDS } from "../embedding/builtin/common-words.ts";
import { FUNCTION_WORDS, GERMAN, IDEOGRAPHIC } from "./glossary.ts";

/** Translates German, Chinese and Japanese words of a query with a small glossary, and recognises words of grammar. */

type Language = keyof typeof FUNCTION_WORDS;

/** Signs of a language that it takes: words of its grammar, or of its glossary. Words that other languages have too are half a sign. */
const MIN_SIGNS = 2;
const SHARED_SIGN = 0.5;

const ENGLISH = new Set(STOP_WORDS.split(" "));
const GERMAN_STEMS = entriesOf(GERMAN);
const IDEOGRAPHS = entriesOf(IDEOGRAPHIC);
const MAX_ENTRY_UNITS = [...IDEOGRAPHS.keys()].reduce((most, { length }) => Math.max(most, length), 0);
const GRAMMAR = new Map(
  (Object.keys(FUNCTION_WORDS) as Language[]).map((language) => {
    const [telling = "", others = ""] = FUNCTION_WORDS[language].split(" | ");
    const own = new Set(telling.split(" ").map(plain));
    return [language, { telling: own, all: new Set([...own, ...others.split(" ").map(plain)]) }];
  }),
);

const ENDINGS = new Set(
  " e em en end ende enden ene enen ener enes er erung es et n s st t te ten ter tes tet ung ungen ation ationen ations iere ieren iert ierung".split(
    " ",
  ),
);
/** Prefixes of separable verbs: the `ge` of a participle stands behind them. */
const SEPARABLE =
  /^(ab|an|auf|aus|durch|ein|fest|frei|her|herunter|hin|hinzu|hoch|nach|um|unter|vor|weiter|wieder|wiederher|zu|zurueck)?ge/;

function entriesOf(list: string): ReadonlyMap<string, string> {
  return new Map(
    list.split(",").map((entry) => {
      const space = entry.indexOf(" ");
      return space < 0 ? [entry, ""] : [entry.slice(0, space), entry.slice(space + 1)];
    }),
  );
}

/** In lower case; umlauts and sharp s as two letters, other letters without their accents. */
export function plain(word: string): string {
  return word
    .toLowerCase()
    .replaceAll(/[äöü]/g, (letter) => ({ ä: "ae", ö: "oe", ü: "ue" })[letter] ?? letter)
    .replaceAll("ß", "ss")
    .normalize("NFD")
    .replaceAll(/[\u0300-\u036f]/g, "");
}

/** Words that show a question to be in English. */
const ONLY_ENGLISH = new Set([...ENGLISH].filter((word) => ![...GRAMMAR.values()].some(({ all }) => all.has(word))));

/** Whether words of a question are in English alone. */
export function isEnglish(words: readonly string[]): boolean {
  return words.some((word) => ONLY_ENGLISH.has(word.toLowerCase()));
}

/** The words of grammar of the language that the words of a question are in; undefined for English, and if too little tells. */
export function grammarOf(words: readonly string[]): ReadonlySet<string> | undefined {
  const distinct = [...new Set(words.map(plain))];
  const english = distinct.filter((word) => ENGLISH.has(word)).length;
  let best: { signs: number; grammar: ReadonlySet<string> } | undefined;
  for (const [language, { telling, all }] of GRAMMAR) {
    const own = distinct.filter((word) => telling.has(word)).length;
    if (own === 0) continue;
    const shared = distinct.filter((word) => all.has(word)).length - own;
    const translated = language === "de" ? distinct.filter((word) => translateGerman(word) !== undefined).length : 0;
    const signs = own + SHARED_SIGN * shared + translated;
    if (signs >= MIN_SIGNS && signs > english && signs > (best?.signs ?? 0)) best = { signs, grammar: all };
  }
  return best?.grammar;
}

/** English for a German word, in any form; for a compound that of its parts. Undefined if the glossary lacks it, or it is English itself. */
export function translateGerman(word: string): string | undefined {
  const own = plain(word);
  if (own.length > MAX_GERMAN_UNITS || ENGLISH.has(own)) return undefined;
  return translateForm(own) ?? translateForm(own.replace(SEPARABLE, "$1")) ?? translateCompound(own);
}

const MAX_GERMAN_UNITS = 40;
const MIN_STEM_UNITS = 3;

/** English for a stem with one of the endings. */
function translateForm(word: string): string | undefined {
  for (let end = word.length; end >= MIN_STEM_UNITS; end--) {
    if (!ENDINGS.has(word.slice(end))) continue;
    const english = GERMAN_STEMS.get(word.slice(0, end));
    if (english !== undefined) return english;
  }
  return undefined;
}

const MIN_PART_UNITS = 4;

/** English for two words that are written as one, with or without `s` or `n` between them: the first translation of each. */
function translateCompound(word: string): string | undefined {
  for (let end = word.length - MIN_PART_UNITS; end >= MIN_PART_UNITS; end--) {
    const first = translateForm(word.slice(0, end));
    if (first === undefined) continue;
    const last = translateForm(word.slice(end)) ?? translateForm(word.slice(end).replace(/^[ns]/, ""));
    if (last !== undefined) return [first, last].map((english) => english.split(" ")[0]).join(" ");
  }
  return undefined;
}

/** A part of a run of Han and Kana. */
export interface RunPart {
  text: string;
  /** Empty for words of grammar; undefined for what the glossary lacks. */
  english: string | undefined;
}

/** Splits a run of Han and Kana at the longest entries of the glossary. Linear in its length. */
export function splitRun(run: string): RunPart[] {
  const parts: RunPart[] = [];
  for (let at = 0; at < run.length;) {
    let length = Math.min(MAX_ENTRY_UNITS, run.length - at);
    while (length > 0 && !IDEOGRAPHS.has(run.slice(at, at + length))) length--;
    const text = run.slice(at, at + Math.max(1, length));
    const english = IDEOGRAPHS.get(text);
    const last = parts.at(-1);
    if (english === undefined && last !== undefined && last.english === undefined) last.text += text;
    else parts.push({ text, english });
    at += text.length;
  }
  return parts;
}
