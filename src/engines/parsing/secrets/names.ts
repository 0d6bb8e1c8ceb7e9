/** Decides which names suggest a secret. Names are compared by words, so that `apiKey`, `API_KEY` and `x-api-key` are one name. */
import { wordSet } from "../../../lib/word-set.ts";
import { classifyForeign } from "./foreign-names.ts";
import type { NameClass } from "./types.ts";

const PASSWORDS = wordSet(
  "password passwords passwd passwort passphrase passcode pass pwd pw psk requirepass masterauth",
);
const SECRETS = wordSet(
  `secret secrets token tokens apikey apikeys apitoken authkey authtoken accesskey accesstoken appkey
   appsecret clientsecret secretkey privatekey masterkey signingkey encryptionkey sharedaccesskey accountkey
   licensekey credential credentials creds auth authorization bearer jwt pat salt mnemonic sas pepper`,
);
/** With one of these before it, `key` is as good as `secret`. */
const KEY_KINDS = wordSet(
  `api secret access auth private priv encryption encrypt decryption signing sign master admin service
   account shared subscription license licence app client sdk consumer write read ingest ingestion
   integration deploy session cookie jwt hmac aes crypt crypto cipher validation webhook server function
   functions publish root recovery bearer rest security developer user authentication preshared nonce logged
   vapid wallet signer deployer instrumentation connection`,
);
/** With one of these before it, a `key` or `token` is public, or a place in a table, a page or a text. */
const HARMLESS_KINDS = wordSet(
  `public pub publishable anon site primary foreign unique cache sort partition row column map hash index
   idempotency dedupe dedup local i18n translation object item parent child group query registry lookup
   event message ordering config setting settings feature flag hot shard component cert certificate
   known authorized trusted next page pagination continuation sync cursor start end last first cancel
   cancellation stop eos authenticity bos pad mask unk parse syntax lexer change state translate metric series dict json
   sha sha1 sha256 md5 etag commit content image file asset css class style media websocket socket ws`,
);
/** Words after the noun that do not change its meaning. */
const SUFFIXES = wordSet(
  `base value data prod production live dev development staging stage test testing sandbox default main old
   new current previous prev backup string str text plain plaintext raw b64 base64 hex env primary secondary
   param arg`,
);
/** Joined words that end like this are a password's name: `dbpassword`, `PGPASSWORD`, `bindpw`. */
const JOINED_PASSWORD =
  /(?:password|passwd|passphrase|psk|[a-z]pwd?|(?<!by|com|tres|sur|over|under|multi|single|first|second|render|one|two|sub)(?<=[a-z])pass)$/;
const JOINED_SECRET = /(?:secret|authtoken|apitoken|accesstoken|apikey|secretkey|accesskey|privatekey|encryptionkey)$/;

/** Names longer than this are judged by their end. */
export const MAX_NAME_CHARACTERS = 64;

/** The kind of secret that a name suggests; undefined for an ordinary name. */
export function classifyName(name: string): NameClass | undefined {
  const words = splitWords(name);
  const foreign = classifyForeign(words);
  if (foreign !== undefined) return foreign;
  while (words.length > 1 && isSuffix(words.at(-1)!)) words.pop();
  const noun = words.pop();
  if (noun === undefined) return undefined;
  const before = words.at(-1);
  if (PASSWORDS.has(noun) || JOINED_PASSWORD.test(noun)) return "password";
  if (noun === "key" || noun === "keys") {
    if (before === undefined) return undefined;
    if (KEY_KINDS.has(before)) return words.includes("public") ? undefined : "secret";
    return HARMLESS_KINDS.has(before) ? undefined : "key";
  }
  if (SECRETS.has(noun) || JOINED_SECRET.test(noun)) {
    if (noun === "secret" || noun === "salt" || before === undefined) return "secret";
    return HARMLESS_KINDS.has(before) || words.includes("public") ? undefined : "secret";
  }
  return undefined;
}

function isSuffix(word: string): boolean {
  return SUFFIXES.has(word) || /^(?:v?\d{1,4}|[a-z])$/.test(word);
}

/** The words of an identifier in lower case and without accents: split at separators, digits' ends and humps. */
function splitWords(name: string): string[] {
  return name
    .slice(-MAX_NAME_CHARACTERS)
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d\u0400-\uffff]/)
    .filter((word) => word !== "");
}
