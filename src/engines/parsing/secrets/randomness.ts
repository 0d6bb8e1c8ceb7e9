/**
 * How random a string looks: the log-likelihood ratio, in bits, of two explanations. Either a person wrote it (words,
 * identifiers, versions), or each character was drawn at random from the alphabet that the string uses.
 *
 * Random keys gain one to three bits a character, words lose one to two, so a threshold of some 12 bits separates them
 * from about 8 characters on. Shannon entropy, the usual measure, cannot: `getUserByIdentifier` has as much of it as a
 * key of the same length.
 */

/**
 * Cost of a character after another in half bits (base 36), for text that people write into source code. Row: the
 * character before; column: the character. a to z (case folded), any digit, anything else. Counted over the 546,000
 * different words of 25 repositories in 15 languages.
 */
const COSTS = [
  "ha78ifalamf787i9n775adgddif9",
  "6dbe7fgk8aj6di7gna9f6llmamc6",
  "7gdh7gl7cn87ej4flac69ikmfqf8",
  "7cca4ehf7iiaee9bkaadafggdqe4",
  "9d98dbdhfjkaa7fbd568gdc9eng5",
  "7iff89hm4oh9fe6il7abbmjkdqc6",
  "bfdf49cc7klceabem89b8hhpgjg4",
  "6fde4gji6kkfdg7dhac8ajiigmd5",
  "bc899b9ojnj8a46bja76mbpdrbmc",
  "5hfa4iijegehbf7bdg4gadbnmle9",
  "9gdd4eec8khdfccfld7ccgeoikf3",
  "7ee95bhh6oi8gi7doga99dikboi6",
  "5bec4hkk7kic9h77ggbebgkicph7",
  "8g97797gajdeea9dme85cchmgoh6",
  "dc99gdchdhca84a9o5a98dbfjlj9",
  "6jcd6hgcaoh7gh79m5b7ahikcre7",
  "fifghhikinm8ihcbgeee1khjklf6",
  "7fac4eai7ncbcc7eoa98cbhmarg6",
  "bhaf6fha9mecef99if85agfmeli4",
  "7gbe5ej86jjddg8bm89achfgakg5",
  "b9cc7bco9rm796g8s576jlqgpjid",
  "4jdj2iim6qmbffbhkjefljloiob8",
  "7gde6gj85mheg95gl79dhjckmng6",
  "9e7d9dkg9mlgcgf6lgd4gjidal84",
  "bcaabdhgcjiba9c6ld89gfdmigg2",
  "7jgg2gjh8hkcfhahkebfeljjabe7",
  "ddddedlkkgkhikkimjghellbkl23",
  "9a799aaa9dfa9aa8g878bcbgjha7",
].map((row) => Uint8Array.from(row, (digit) => Number.parseInt(digit, 36)));
const DIGIT = 26;
const OTHER = 27;

/** Bits of what the table leaves out: which digit, which separator, which other symbol. */
const DIGIT_BITS = Math.log2(10);
const SEPARATOR_BITS = 1;
const SYMBOL_BITS = 6;
/** Case of a letter after another, in people's text: words are lower case, camelCase rises once a word. */
const CASE_KEPT_BITS = 0.2;
const CASE_RAISED_BITS = 3.5;
const CASE_AFTER_UPPER_BITS = 1;

/** Number of characters that are scored; longer strings are judged by their beginning. */
const MAX_JUDGED_CHARACTERS = 200;

/** The log-likelihood ratio described above, in bits. Above zero: more likely drawn at random than written. */
export function randomnessBits(text: string): number {
  const judged = text.slice(0, MAX_JUDGED_CHARACTERS);
  let written = 0;
  let before = OTHER;
  let wasUpper = false;
  for (let at = 0; at < judged.length; at++) {
    const code = judged.charCodeAt(at);
    const isUpper = code >= 65 && code <= 90;
    const symbol = symbolOf(code, isUpper);
    written += COSTS[before]![symbol]! / 2;
    if (symbol === DIGIT) written += DIGIT_BITS;
    else if (symbol === OTHER) written += isSeparator(code) ? SEPARATOR_BITS : SYMBOL_BITS;
    else if (before < DIGIT) {
      if (wasUpper) written += CASE_AFTER_UPPER_BITS;
      else written += isUpper ? CASE_RAISED_BITS : CASE_KEPT_BITS;
    }
    before = symbol;
    wasUpper = isUpper;
  }
  return written - judged.length * Math.log2(alphabetSize(judged));
}

function symbolOf(code: number, isUpper: boolean): number {
  if (isUpper) return code - 65;
  if (code >= 97 && code <= 122) return code - 97;
  return code >= 48 && code <= 57 ? DIGIT : OTHER;
}

/** `-`, `_`, `.`, `/`, `:`, space: what joins words. */
function isSeparator(code: number): boolean {
  return code === 45 || code === 95 || code === 46 || code === 47 || code === 58 || code === 32;
}

/** Size of the smallest customary alphabet that has every character of the text. */
function alphabetSize(text: string): number {
  if (/^\d*$/.test(text)) return 10;
  if (/^(?:[\da-f]*|[\dA-F]*)$/.test(text)) return 16;
  let size = 0;
  if (/\d/.test(text)) size += 10;
  if (/[a-z]/.test(text)) size += 26;
  if (/[A-Z]/.test(text)) size += 26;
  if (/[^\dA-Za-z]/.test(text)) size += /[^\dA-Za-z_=+/.-]/.test(text) ? 14 : 2;
  return size;
}

/**
 * Texts that mark keys in documentation and tests as examples, and references to values stored elsewhere.
 */
const PLACEHOLDER =
  /example|sample|placeholder|your[_-]?|change[_-]?(?:me|it|this)|dummy|fake|(?<![a-z])mock|redacted|insert|replace|todo|fixme|secret[_-]?(?:key|name|ref)|xxxx|\*{3}|\.{3}|…|<[A-Za-z][\w .:-]{0,60}>|[$#]\{|\$\(|\{\{|%\(\w{1,40}\)|<%|ENC\[|test[_-]?(?:key|token|secret)|not[_-]?a[_-]?real|lorem|ipsum|foobar|deadbeef|cafebabe|0x0{8}/i;
/** What many people choose, and what manuals and tests write: only a year or another number behind a sign tells the former. */
const COMMON_PASSWORD = /p[a@4][s$5]{2}w[o0]?rd|qwerty|asdf/i;
const NUMBERED = /^(?=[^\d!#%&*?]{0,16}[A-Za-z])[\w@$]{4,16}[!@#$%&*?](?!1{2,4}$|0{1,4}1?$|12(?:34?)?$)\d{2,4}[!?]?$/;

/** Whether a text is a word with a sign and a number of two to four digits behind it, as people change passwords: `P@ssw0rd!2019`. */
export const isNumbered = (text: string): boolean => NUMBERED.test(text);

/** A longer run of ascending or descending characters is not a key. */
const MAX_SEQUENCE = 6;
/** The same character so often, or so few different ones for its length, is a filler. */
const MAX_REPEATS = 5;

/** Passwords that people compose have this many characters, and this many bits if no symbol is among them. */
const COMPOSED_CHARACTERS = 10;
const COMPOSED_BITS = 4;
const CODE = /[\s"'`()<>[\]{}|;,\\]|:\/\/|^[$%]|%[\dA-F]{2}|[=&+]\w/;

/** Whether a text is composed as password policies ask: both cases, two digits and a symbol, or some randomness instead of the symbol. */
export function isComposedPassword(text: string): boolean {
  return (
    text.length >= COMPOSED_CHARACTERS &&
    text.length <= 64 &&
    /[a-z]/.test(text) &&
    /[A-Z]/.test(text) &&
    /\d\D{0,64}\d/.test(text) &&
    !CODE.test(text) &&
    (/[!@#$%^&*?~]/.test(text) || randomnessBits(text) >= COMPOSED_BITS)
  );
}

/** Whether a text is a filler, an example or a reference to be filled in rather than a value. */
export function isPlaceholder(text: string): boolean {
  const judged = text.slice(0, MAX_JUDGED_CHARACTERS);
  if (PLACEHOLDER.test(judged) || (COMMON_PASSWORD.test(judged) && !isNumbered(text))) return true;
  let repeats = 1;
  let rising = 1;
  let falling = 1;
  for (let at = 1; at < judged.length; at++) {
    const step = judged.charCodeAt(at) - judged.charCodeAt(at - 1);
    repeats = step === 0 ? repeats + 1 : 1;
    rising = step === 1 ? rising + 1 : 1;
    falling = step === -1 ? falling + 1 : 1;
    if (repeats > MAX_REPEATS || rising >= MAX_SEQUENCE || falling >= MAX_SEQUENCE) return true;
  }
  return hasAtMost(judged, Math.min(6, Math.max(2, judged.length / 4)));
}

/** Whether a text consists of at most `limit` different characters. Most texts are decided by their first few. */
function hasAtMost(text: string, limit: number): boolean {
  const seen = new Set<string>();
  for (const character of text) if (seen.add(character).size > limit) return false;
  return true;
}
