/**
 * Passwords that people choose: words with digits or symbols in or behind them (`copperKettle8`, `l0bster_Soup`). They are not random, so they are told
 * from other strings by what they are composed of, and only count beside a name or in a place of a password.
 */

/** How much a string looks like a chosen password. `strong` needs no name beside it if the place suggests a password. */
type Choice = "none" | "weak" | "strong";

const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 64;

/** What code, paths, dates, addresses, file names and references contain. */
const OTHER_TEXT =
  /[\s"'`<>[\]{}|;,\\:=]|\/(?![A-Z\d])|^\/|\w\([^()]{0,40}\)$|^[^(]*\)|\([^)]*$|^[$%@.-]|%[\dA-F]{2}|\d{4}-\d\d|@[\w-]{1,40}\.[a-z]|^[\w-]{1,60}\.(?:[a-z]{1,4}|mp[34]|7z|h5|bz2|p12|p8|md5|woff2)$|^[A-Z\d]+(?:[_-][A-Z\d]+)*$|^v?\d{1,4}\.\d|^[a-z\d].{0,60}\..{0,60}\.|\$\d{1,3}$|^[A-Za-z]\w*\.[A-Z][A-Z\d_]+$|^(?:[A-Z][A-Za-z]*-){2,}[A-Z][A-Za-z]*$|^(?:X|Sec|CF|Content|Accept)-|^xn--|Test/;
/** What test data, messages and identifiers of code say where a password would stand. */
const FILLER =
  /pass|senha|contrase|kennw|wachtw|p[a@4][s5$3]{2}w|pwd?(?![a-z])|s[e3]cr[e3]t|sekret|credential|t[o0]k[e3]n|(?<![a-z])t[e3]st|t[e3]st(?![a-z])|demo|dummy|sample|user|admin|log[i1]n|auth|valid|wrong|incorrect|default|hunter\d|hello|w[o0]rld|foob|change|1234|abc|qwer|x{3}|verifi|signing|client|server|extension|attribute|parameter|provider|config|expire/i;
/** The same of words that are also parts of other words. */
const FILLER_WORD =
  /(?<![a-z])(?:data|value|key|name|field|item|file|format|type|string|text|number|version|option|param|host|u?id|uuid|hash|salt|sha|md|hmac|base|utf|rfc|https?|ssl|tls|ipv|krb|x\d{3}|aes|des|rsa|prompt|input|output|level|line|index|column|arg|var|step|case|group|node|object|class|function|method|none|true|false|some|my|new|old|bob|alice|is|to|get|set|py|python)(?![a-z])/i;

export function choiceOf(text: string): Choice {
  if (text.length < MIN_CHARACTERS || text.length > MAX_CHARACTERS) return "none";
  const hasDigit = /\d/.test(text);
  const hasMark = /[!@#$%^&*?~]/.test(text);
  const hasLower = /[a-z]/.test(text);
  const hasUpper = /[A-Z]/.test(text);
  if (!(hasLower || hasUpper) || !(hasDigit || (hasMark && hasLower && hasUpper))) return "none";
  if (OTHER_TEXT.test(text) || FILLER.test(text) || FILLER_WORD.test(text)) return "none";
  if (/(.)\1{3}/.test(text)) return "none";
  const isMixed = hasLower && hasUpper && hasDigit;
  if (hasDigit && hasMark) return "strong";
  return isMixed && !IDENTIFIER.test(text) ? "strong" : "weak";
}

/** Words that are joined, or one of camelCase: a password only if it stands behind the name of one, or where only a password can. */
const JOINED_WORDS = /^[A-Za-z]{2,20}[._!-][A-Za-z]{1,20}(?:[._!-][A-Za-z]{1,20}){0,3}!?$/;
/** Words that are joined by what joins no identifiers: `Salz&Pfeffer`, `sun+moon!`, `p@ncake#kettle`. */
const SIGNED_WORDS =
  /^(?=[^&+!#@~*$]{1,40}[&+!#@~*$])[A-Za-z]{1,20}(?:[&+!#@~*$._/-]{1,2}[A-Za-z]{1,20}){1,5}[!?*]{0,3}$/;
/** As generators of pass phrases join them: `copper-kettle-on-fire`. */
const MANY_WORDS = /^[a-z]{2,12}([-_])[a-z]{2,12}(?:\1[a-z]{2,12}){2,6}$/;
const MIN_MANY_WORDS = 16;
const LONG_WORDS = /^[a-z]{5,}(?:[A-Z][a-z]+)*$/;
const MIN_LONG_WORDS = 12;
const MIN_CAMEL_WORDS = 10;
/** What people call things, not what they choose for passwords. */
const COMMON =
  /^(?:postgres|undefined|description|autocomplete|required|optional|placeholder|localhost|development|production|environment|rootroot|minioadmin|wordpress|guest|subdomain|specialcharacters|firstname|lastname|fullname|current|confirm\w*|forgot\w*|reset\w*|remember\w*|show\w*|hide\w*|enter\w*|require\w*|encrypt\w*|hidden\w*|visible\w*|one-time-code|plain\w*|basic\w*|digest\w*|secure\w*|keyboard\w*|interactive\w*|unknown\w*|missing\w*|empty\w*|expire\w*|expect\w*|create\w*|update\w*|delete\w*|validat\w*|invalid\w*|generat\w*|random\w*|minimum\w*|maximum\w*|strength\w*|strong\w*|length\w*|match\w*|mismatch\w*|sensitive\w*)$/i;

/** Whether words without a digit or a symbol may be a password, where one must stand. */
export function isChosenWords(text: string): boolean {
  if (isJoinedWords(text)) return true;
  if (isOrdinary(text)) return false;
  return LONG_WORDS.test(text) && text.length >= (/[A-Z]/.test(text) ? MIN_CAMEL_WORDS : MIN_LONG_WORDS);
}

const ADDRESS = /@[\w-]{1,40}\.[a-z]/;

/** Whether a text is words that are joined by signs of which names of things have none. */
export const isSignedWords = (text: string): boolean =>
  text.length >= MIN_CHARACTERS && SIGNED_WORDS.test(text) && !isOrdinary(text) && !ADDRESS.test(text);

/** Whether a text is words that are joined by signs, in a way that names of things seldom are. */
export function isJoinedWords(text: string): boolean {
  if (text.length < MIN_CHARACTERS || isOrdinary(text)) return false;
  if (MANY_WORDS.test(text)) return text.length >= MIN_MANY_WORDS;
  if (isSignedWords(text)) return true;
  return JOINED_WORDS.test(text) && /[A-Z]/.test(text) && /[a-z]/.test(text);
}

const isOrdinary = (text: string): boolean =>
  text.length > MAX_CHARACTERS || FILLER.test(text) || FILLER_WORD.test(text) || COMMON.test(text);

const MIN_WORDS = 3;
/** Words of messages and labels. */
const PROSE =
  /\b(?:the|your|enter|must|is|are|be|not|for|please|keys?|file|used?|if|on|to|of|in|and|or|with|this|that|can|will|should|when|no|an?|type|again|confirm|choose|set|new|change|reset|optional|required|at|least|minimum|maximum|characters?|letters?|digits?|long)\b/i;

/** A comma in a phrase that ends with a number, which messages seldom do. */
const COMMA = /, (?=[^,]{2,40} \d{2,4}$)/;

/** Whether a text is a pass phrase: several words without punctuation, and not a message. */
export function isPhrase(text: string): boolean {
  return (
    text.length >= 12 &&
    text.length <= MAX_CHARACTERS &&
    /^[A-Za-z][A-Za-z\d]{1,16}(?: [A-Za-z\d]{1,16}){2,9}$/.test(text.replace(COMMA, " ")) &&
    text.split(" ").length >= MIN_WORDS &&
    !PROSE.test(text) &&
    !FILLER.test(text)
  );
}

/** Identifiers with a digit in the middle, as in `sha256Hex` and `OAuth2Client`. A password has it at the end or in a word. */
const IDENTIFIER =
  /^[A-Za-z]?[a-z]*(?:[A-Z][a-z]*)*\d+(?:[A-Z][a-z]*)+$|^[A-Z]?[a-z]{1,5}\d+$|^[A-Z][A-Za-z]*\d$|^[a-z]+(?:[A-Z][a-z]+)+\d$/;
