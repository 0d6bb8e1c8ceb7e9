/**
 * Names of secrets in other languages than English. Many of these languages put the noun first (`senha_smtp`, `motDePasseBdd`) and others
 * join the words (`Datenbankpasswort`), so a noun counts anywhere in a name.
 */
import { trigramsOf, type Hints } from "./hints.ts";
import type { NameClass } from "./types.ts";

const PASSWORD =
  /^(?:senhas?|contrasen(?:y|h)?as?|contrasinal|\w{0,30}passwo(?:e|o)?rte?r?|\w{0,30}kennw(?:o|oe)rte?r?|losungswort|\w{0,30}wachtwoord(?:en)?|passe|motdepasse\w{0,12}|mdp|hasl[oa]|parola|losenord|passord|adgangskode|kodeord|salasana|heslo|jelszo|sifresi|katasandi|matkhau|lozinka|geslo|zaporka)$/;
const SECRET = /^(?:segredos?|secretos?|segreto|geheimnis|geheim|sekret|claves?|jeton)$/;
const KEY = /^(?:chaves?|llave|chiave|\w{0,30}schlu(?:e)?ssel|\w{0,30}sleutel|klucz)$/;
/** In scripts whose words are not separated, or not in lower ASCII. */
const OTHER_SCRIPT = /(?:密码|密碼|口令|パスワード|비밀번호|пароль)$/;
/** Words that make a name one of a form's field, a message, a digest, or a key that is not secret. */
const ABOUT =
  /^(?:hash|campo|champ|feld|veld|tamanho|longitud|longueur|lange|minim[ao]|maxim[ao]|curt[ao]|cort[ao]|err[oa]r?|erreur|fehler|url|id|rota|ruta|route|pagina|primari[ao]|primaire|estrangeira|foranea|extern[ao]|public[ao]?|publique|offentlich\w*|cache|textos?|labels?|titulo|mensage[mn]|mensaje|redefinir|restablecer|olvid\w*|esquec\w*|vergessen|vergeten|oublie|repetir|confirma\w*|incorret[ao]|incorrect[ao]|invalid[ao]?|expirad[ao])$/;

/** What says that a key is none of a table or a map. */
const OF_SECRET =
  /^(?:api|priv\w*|acces\w*|acess\w*|toegang\w*|zugriff\w*|secret\w*|assin\w*|firma\w*|signatu\w*|ses\w*|sitzung\w*|crip\w*|cifr\w*|jwt|hmac|aes|master|mestr[ae]|maestr[ao]|implant\w*|deploy|servi\w*|clien\w*|kund\w*|token|web|app|lizenz\w*|licen\w*|clima|mapas?)$/;

/** The kind of secret that words of other languages suggest; undefined for none. `words` are in lower case and without accents. */
export function classifyForeign(words: readonly string[]): NameClass | undefined {
  const kind = words.map(kindOf).find((found) => found !== undefined);
  if (kind === "key" && words.length > 1 && !words.some((word) => OF_SECRET.test(word))) return undefined;
  return kind === undefined || words.some((word) => ABOUT.test(word)) ? undefined : kind;
}

function kindOf(word: string): NameClass | undefined {
  if (PASSWORD.test(word) || OTHER_SCRIPT.test(word)) return "password";
  if (SECRET.test(word)) return "secret";
  return KEY.test(word) ? "key" : undefined;
}

/** Parts in ASCII, of which every such name has one. */
const PARTS = (
  "senha contrase contrasi kennw losungswort wachtwoord mdp haslo hasla parola senord adgangskode kodeord " +
  "salasana heslo jelsz katasandi matkhau lozinka geslo zaporka segred segreto geheim sekret clave jeton chave " +
  "llave chiave schl sleutel klucz"
).split(" ");
const OTHER_PARTS = ["hasło", "Hasło", "密码", "密碼", "口令", "パスワード", "비밀번호", "пароль", "Пароль"];

const TRIGRAMS = PARTS.map(trigramsOf);

/** Whether a text may have names of secrets in other languages. */
export function mayHaveForeign(text: string, hints: Hints): boolean {
  return hints.mayHaveWord(TRIGRAMS) || (!hints.isAscii && OTHER_PARTS.some((part) => text.includes(part)));
}

/** The alternatives of an expression for a part of such a name. */
export const FOREIGN_NOUN = [...PARTS, ...OTHER_PARTS].join("|");
