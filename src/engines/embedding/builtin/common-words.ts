import { Scanner } from "./scanner.ts";

/**
 * Weights of words that say little about a piece of code. A fixed list instead of inverse document frequency, because a vector must
 * not depend on what else is indexed.
 */

const STOP_WEIGHT = 0.1;
const KEYWORD_WEIGHT = 0.5;
/** Names of languages occur in queries, but rarely in the code itself. */
const LANGUAGE_WEIGHT = 0.1;

export const STOP_WORDS =
  "a an and any are as at be been but by can could did do does each for from had has have how i if in into is it its me " +
  "more most my no not of on once one only or other our out over own same should so some such than that the their them " +
  "then there these they this those through to too under until up very was way we were what when where which while who " +
  "why will with would you your";

const KEYWORDS =
  "abstract assert async await bool boolean break case catch char class const constexpr continue def default defer del " +
  "double elif else elsif end enum except export extends extern false final finally float fn func function global go goto " +
  "implements import include inline int interface internal lambda let long match module mut namespace new nil none null " +
  "override package param params pass private protected pub public raise readonly ref require rescue return returns self " +
  "short signed sizeof static string struct super switch template throw throws true try type typedef typename typeof " +
  "undefined union unless unsafe unsigned use using val var virtual void volatile where yield";

export const LANGUAGES = "csharp elixir golang java javascript kotlin lua php python ruby rust scala swift typescript";

const COMMON = new Map<number, number>();

function add(words: string, weight: number): void {
  const scanner = new Scanner();
  scanner.scan(words, false);
  for (let i = 0; i < scanner.words.length; i++) COMMON.set(scanner.words.values[i] as number, weight);
}

add(LANGUAGES, LANGUAGE_WEIGHT);
add(KEYWORDS, KEYWORD_WEIGHT);
add(STOP_WORDS, STOP_WEIGHT);

/** Weight in (0, 1] of the sub-token with this hash. */
export function wordWeight(hash: number): number {
  return COMMON.get(hash) ?? 1;
}
