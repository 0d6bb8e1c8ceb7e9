/**
 * Passwords made of words. A value in a place that holds a password counts as one, unless its words are those that forms, types, messages,
 * documentation and tests write there.
 */
import { wordSet } from "../../../lib/word-set.ts";

/**
 * `quoted`: a literal that is assigned to a password's name. `setting`: a value in a file of settings, an environment or a list of
 * settings, without quotes. `joined`: elsewhere, where one word says too little.
 */
export type GivenPlace = "quoted" | "setting" | "joined";

/** Words of names of secrets. A value with one is a name or a filler, whatever else it has. */
const NOUNS = wordSet(
  `pass password passwords passwd passwort passwords passphrase passcode pwd pw pword secret secrets token tokens key keys keystore
   truststore credential credentials cred creds kennwort wachtwoord senha contrasena geheim apikey word`,
);
/** Words that are written in place of a password. */
const ORDINARY = wordSet(
  `auth authenticate authentication authorization authorized login logon logout signin signup sign username user users name names email mail
   account accounts member admin administrator root guest anonymous owner alice bob john jane joe doe
   test tests tested tester testing demo dummy sample example examples fake mock foo bar baz qux foobar placeholder change changed changeme
   changeit default defaults todo fixme valid invalid wrong right correct incorrect missing required requires optional empty blank null
   none nil undefined unknown unset hidden visible shown show hide toggle enable enabled disable disabled expired expire expires weak strong
   stronger medium good bad new old current previous confirm confirmation confirmed repeat repeated again reset forgot forgotten remember
   update updated create created delete deleted remove removed set generate generated generator random match matches mismatch
   different same another other some any every insecure secure secured unsecured sensitive protected private public internal external
   string strings str text texts varchar char chars character characters number numbers numeric integer int bool boolean object array
   list map dict bytes byte data value values type types field fields input inputs output form forms control label labels button btn icon
   eye lock unlock box checkbox group row column wrapper container modal panel page view screen dialog prompt component class style hint help
   helper title message messages error errors warning info success failed failure hash hashed hasher hashes salt salted bcrypt argon
   scrypt plain plaintext cleartext clear encrypt encrypted encrypting encryption decrypt decrypted encode encoded encoding decode basic digest
   bearer oauth oauth2 jwt ssl tls http https ldap kerberos sso saml oidc config configuration setting settings provider service
   services server client host hostname localhost port path file files filename folder directory url uri env environment variable
   variables var param params parameter parameters option options arg args argument arguments attribute attributes property properties
   extension header headers cookie cookies session request response query body json xml yaml html code codes
   postgres postgresql mysql mariadb mongo mongodb redis rabbitmq elastic elasticsearch kibana grafana wordpress minio keycloak jenkins
   nextcloud oracle database db sql docker kubernetes vault production development staging prod dev local remote
   validator validation validate verify verified verification rule rules policy policies strength length minimum maximum min max
   enter type choose unchanged readonly writeonly interactive automatic manual custom simple
   complex complexity special specialcharacters uppercase lowercase letters digits symbols alphanumeric redacted masked obfuscated concealed
   omitted description subdomain firstname lastname fullname autocomplete keyboard base prefix suffix module method function
   grant hasher sha md rsa aes des otp totp pin my your with without not no and or of for to is`,
);
const NOUN = /pass|secret|pwd/;
const MIN_CHARACTERS = 7;
const MAX_CHARACTERS = 64;
const MIN_JOINED = 9;
const MIN_SETTING_WORD = 8;
const MIN_QUOTED_WORD = 10;
const MIN_OTHER_WORD = 5;

/** Words, with numbers and signs between and behind them. */
const SHAPE = /^[A-Za-z\d]{1,30}(?:[-._!@#$%&*+~/]{1,2}[A-Za-z\d]{1,30}){0,6}[!?*#$.]{0,3}$/;
const HUMPS = /[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+/g;
const JOINED = /^[A-Za-z]{2,20}(?:[-!&+*~#$%][A-Za-z]{1,20}){1,5}[!?*]{0,2}$/;
const MARKED = /^[A-Za-z]{5,}[!?*#$]{1,3}$/;
const SNAKE = /^[A-Za-z]{2,20}(?:_[A-Za-z]{1,20}){1,5}$/;
const DOTTED = /^(?=.{9})[A-Za-z][a-z]{1,20}(?:\.[A-Za-z][a-z]{0,20}){1,4}$/;
const LOWER = /^[a-z]+$/;
const CAPITAL = /^[A-Z][a-z]{7,}$/;
const CAMEL = /^(?:[a-z]+|[A-Z][a-z]+)(?:[A-Z][a-z]+)+$/;
/** Parts of fillers that are written as one word: `testpass`, `supersecure`. */
const FILLER =
  /pass|pwd|secret|token|user|admin|login|logon|auth|credential|test|demo|sample|secur|valid|default|change|hello|world|wordpress|anything|something|nothing|verif|encrypt|provider|config/i;
/** Digits behind words, or one in place of a word. */
const NUMBERED = /\d{1,6}[!?*#$.]{0,3}$|[a-z]\d[A-Z][a-z]{2,}$/;
const PHRASE =
  /^[A-Z][a-z]{2,}(?: [A-Za-z]{2,16}){1,4} \d{1,4}[!?]?$|^[A-Z][a-z]{2,}(?: [&+] [A-Z][a-z]{1,16}){1,3}[!?]?$/;
/** Names of headers, files, hosts and classes, and ordinals of versions. */
const OTHER_SHAPE =
  /^(?:X|Content|Accept)-|\.[a-z]{2,4}$|@[\w-]{1,40}\.[a-z]|^[A-Z\d]+(?:[_-][A-Z\d]+)*$|^[a-z]+(?:[-_][a-z]+)*[-_]?v?\d$/;

const NOT_ASCII = /[^\0-\x7f]/;
const withoutAccents = (text: string): string =>
  text
    .normalize("NFD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .replaceAll("ß", "ss");

/** Whether a text is words that somebody gave for a password in such a place. */
export function isGivenPassword(given: string, place: GivenPlace): boolean {
  const text = NOT_ASCII.test(given) ? withoutAccents(given) : given;
  if (text.length < MIN_CHARACTERS || text.length > MAX_CHARACTERS) return false;
  if (!(SHAPE.test(text) || PHRASE.test(text)) || OTHER_SHAPE.test(text)) return false;
  if (/(.)\1{3}/.test(text)) return false;
  const words = (text.match(HUMPS) ?? []).map((word) => word.toLowerCase());
  if (words.some((word) => NOUNS.has(word) || NOUN.test(word))) return false;
  const ordinary = words.filter((word) => ORDINARY.has(word)).length;
  // A number is what people add to a password, so that one word of their own is enough.
  if (/\d/.test(text))
    return NUMBERED.test(text) && words.some((word) => word.length >= MIN_OTHER_WORD && !ORDINARY.has(word));
  if (ordinary > 0 || FILLER.test(text)) return false;
  if (MARKED.test(text) || PHRASE.test(text)) return true;
  if (JOINED.test(text)) return text.length >= MIN_JOINED;
  if (place === "joined") return false;
  if (SNAKE.test(text)) return text.length >= MIN_JOINED;
  if (DOTTED.test(text)) return place === "setting" || /[A-Z]/.test(text);
  const least = place === "setting" ? MIN_SETTING_WORD : MIN_QUOTED_WORD;
  return text.length >= least && (LOWER.test(text) || CAMEL.test(text) || (place === "setting" && CAPITAL.test(text)));
}

const MIN_SECRET_WORDS = 14;

/** The same of another secret, which has several words with a number behind them, or without it if it is called a secret. */
export function isGivenSecret(text: string, isNamedSecret: boolean): boolean {
  if (text.length < MIN_SECRET_WORDS || !SEVERAL.test(text) || !(isNamedSecret || /\d$/.test(text))) return false;
  return isGivenPassword(text, "joined");
}

const SEVERAL = /^[A-Za-z]{2,20}(?:[-!&+*~#$%_][A-Za-z\d]{2,20}){2,6}$/;
