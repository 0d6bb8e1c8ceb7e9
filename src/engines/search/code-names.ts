import type { QuerySegment } from "./issue-text.ts";
import { nameWords } from "./paths.ts";

/** Names that code has for what a question asks for and that the question does not contain. */

/** What people call things that code has another name for, which their question does not contain. */
const CODE_NAMES: readonly [phrase: RegExp, name: string, weight: number][] = [
  [/\bentry[ -]?points?\b/i, "main", 0.5],
  [/\bcommand[ -]line\b/i, "cli", 0.5],
  [/\bhow many\b/i, "max limit count", 0.5],
];
/** Verbs that code joins with the word behind them: "the request times out" is about a timeout. */
const JOINED_VERBS =
  /\b(back|call|check|clean|fall|log|look|plug|roll|set|shut|sign|start|time)(?:s|d|ed|ing|ged|ging|ned|ning|ting)? (back|down|in|out|up)\b/gi;

/** Past forms of irregular verbs with the verb, by which code is named: "how are arrows bound to shapes" is about `bindArrow`. */
const PAST_FORMS: ReadonlyMap<string, string> = new Map(
  (
    "bound bind,built build,broken break,broke break,caught catch,chosen choose,chose choose,drawn draw,drew draw,driven drive,fed feed," +
    "forgotten forget,frozen freeze,grew grow,grown grow,held hold,hidden hide,kept keep," +
    "lost lose,met meet,overridden override,overwritten overwrite,ran run,rebuilt rebuild,rewritten rewrite," +
    "sent send,shrunk shrink,slept sleep,sought seek,spun spin,stolen steal,stuck stick,taken take,took take," +
    "thrown throw,threw throw,torn tear,unwound unwind,withheld withhold,woken wake,woke wake,written write,wrote write"
  )
    .split(",")
    .map((pair) => pair.split(" ") as [string, string]),
);
/**
 * British and American spellings: "cancelled" is about `canceled`, "initialize" about `initialise`. What a rule makes of other words is
 * in no text, as `promize` of "promise", and what nothing has does not count.
 */
const SPELLINGS: readonly [RegExp, string][] = [
  [/is(e[drs]?|ing|ers|ations?)$/, "iz$1"],
  [/iz(e[drs]?|ing|ers|ations?)$/, "is$1"],
  [/(?<=[a-z]{2}[aeiou])ll(ed|ing|ers?|ations?)$/, "l$1"],
  [/(?<=[a-z]{2}[aeiou])l(ed|ing|ers?|ations?)$/, "ll$1"],
  [/(?<=^(?:col|behavi|fav|flav|hon|neighb))our(s|ed|ing|able)?$/, "or$1"],
  [/(?<=^(?:col|behavi|fav|flav|hon|neighb))or(s|ed|ing|able)?$/, "our$1"],
  [/yse([drs]?)$/, "yze$1"],
  [/yze([drs]?)$/, "yse$1"],
];
/** Less than the weight of the word as written, which may be meant itself ("upper bound"). */
const FORM_WEIGHT = 0.7;

/** Names of more words are rarely asked for word by word. */
const MAX_JOINED_WORDS = 3;
/** Longer words are no English ones. */
const MAX_SPELT_UNITS = 24;
const PLURAL_END = /(?<=[a-z]{2})(?<!s)s$/;

/** Things that code registers by a function `use`. */
const USED = /^(?:middlewares?|plugins?|extensions?)$/i;
/** Names of functions and lists that register a thing, which `*` stands for. */
const REGISTRIES = "add_* add* register_* register* *s *_table *table *_list *list".split(" ");

/**
 * Drops past forms from a short query that has their verb too, as in "where is the write ahead log written": the two would count twice. Forms of
 * regular verbs have one stem anyway.
 */
export function withoutRepeatedVerbs(segments: QuerySegment[]): QuerySegment[] {
  if (!isShort(segments)) return segments;
  const words = new Set(segments.flatMap(({ text }) => wordsOf(text)));
  return segments.map((segment) => ({
    ...segment,
    text: segment.text.replaceAll(/\b[a-z]+\b/gi, (word) =>
      words.has(PAST_FORMS.get(word.toLowerCase()) ?? "") ? "" : word,
    ),
  }));
}

/** The names that code has for what a short query asks for. */
export function codeNames(segments: readonly QuerySegment[]): QuerySegment[] {
  if (!isShort(segments)) return [];
  const text = segments.map((segment) => segment.text).join(" ");
  const named = CODE_NAMES.filter(([phrase]) => phrase.test(text)).map(([, name, weight]) => titleOf(name, weight));
  const joined = Array.from(text.matchAll(JOINED_VERBS), ([, verb, other]) => titleOf(`${verb}${other}`, 1));
  const words = new Set(wordsOf(text));
  const forms = [...words].flatMap((word) =>
    [...otherSpellings(word), PAST_FORMS.get(word)].filter((form) => form !== undefined),
  );
  return [...named, ...joined, ...forms.map((form) => titleOf(form, FORM_WEIGHT))];
}

/**
 * Names that definitions may have of two or three words in a row, as written and as code joins them: "password bearer" is `passwordbearer`
 * (without regard to case) or `password_bearer`, and "rate limiters" also `ratelimiter`. A stop word or a name that is joined already ends a row.
 */
export function joinedNames(text: string): { shown: string; names: string[] }[] {
  const words = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const joins = (word: string): boolean => !/\p{Ll}\p{Lu}|_/u.test(word) && nameWords(word).length > 0;
  const found: { shown: string; names: string[] }[] = [];
  for (let start = 0; start < words.length; start++)
    for (let count = 1; count <= MAX_JOINED_WORDS && joins(words[start + count - 1] ?? ""); count++) {
      if (count === 1) continue;
      const asked = words.slice(start, start + count).join(" ");
      const forms = new Set([asked, asked.replace(PLURAL_END, "")]);
      const names = [...forms].flatMap((form) => [form.replaceAll(" ", ""), form.replaceAll(" ", "_")]);
      found.push({ shown: asked, names });
    }
  return found;
}

/** The British spelling of an American word, and the other way round. */
function otherSpellings(word: string): string[] {
  if (word.length > MAX_SPELT_UNITS) return [];
  return SPELLINGS.map(([pattern, other]) => word.replace(pattern, other)).filter((other) => other !== word);
}

function isShort(segments: readonly QuerySegment[]): boolean {
  return segments.every(({ kind }) => kind === "title");
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}

function titleOf(text: string, weight: number): QuerySegment {
  return { kind: "title", weight, text };
}

/** The names by which code usually registers what a query wants to add, or lists all of its kind. */
export function registryNames(things: string): string[] {
  const words = things.split(" ");
  const last = words.at(-1) ?? "";
  const ways = new Set([words.join("_"), words.join(""), last]);
  const names = [...ways].flatMap((thing) => REGISTRIES.map((name) => name.replace("*", thing)));
  return USED.test(last) ? ["use", ...names] : names;
}
