/** What of a change is seen from outside of a file, by what the languages say on the line of a declaration. */
import type { DefinedSymbol } from "../../../engines/relations/question-files.ts";
import { lastPart, nameParts } from "../../../engines/search/names.ts";

/** A declaration that others can use, and what becomes of it. */
export interface InterfaceChange {
  path: string;
  /** Qualified name; of a removed one the name alone. */
  symbol: string;
  change: "added" | "changed" | "removed";
}

const MAX_LINE = 300;
const DECLARED =
  /\b(?:function|class|def|defp|func|fun|fn|interface|type|struct|enum|trait)\s{1,20}(?:\([^()]{0,100}\)\s{0,20})?([\p{L}_$][\p{L}\p{N}_$]{0,99}[!?]?)/gu;
/** A function that is declared by its parameters and a brace: `public int size() {`. */
const DECLARED_BY_BRACE =
  /^(?:[\p{L}\p{N}_$<>[\],.?:*&@#~]{1,100}\s{1,20}){0,8}[*&#]{0,3}([\p{L}_$][\p{L}\p{N}_$]{0,99})\s{0,5}\([^()]{0,200}\)[^(){}=;]{0,100}\{\s{0,20}$/u;
/** A function that a name is given: `const parse = (text) =>`. */
const DECLARED_AS_VALUE =
  /\b(?:const|let|var)\s{1,20}([\p{L}_$][\p{L}\p{N}_$]{0,99})\s{0,5}=\s{0,5}(?:async\s{1,5})?(?:function\b|\([^()]{0,200}\)[^(){}=;]{0,60}=>|[\p{L}_$][\p{L}\p{N}_$]{0,99}\s{0,5}=>)/u;
/** The beginning of a line that is a comment. */
const COMMENT = /^\s{0,100}(?:\/\/|\/?\*|#(?:\s|$)|--|;)/;
/** Words that stand before parentheses and a brace and declare nothing, and those that begin an expression. */
const STATEMENT =
  /^(?:[})\s]{0,20})(?:if|else|for|foreach|while|switch|catch|with|return|do|try|new|throw|await|yield|when|match|case|unless|until|using|lock|synchronized|guard|defer|go)\b|\bnew\s/u;

/** Whether a line begins as a comment, as most languages write it. */
export const isComment = (line: string): boolean => COMMENT.test(line);

/** Names that a line declares, as most languages write it. */
export function declaredNames(given: string): string[] {
  const line = given.slice(0, MAX_LINE);
  if (isComment(line)) return [];
  const names = Array.from(line.matchAll(DECLARED), ([, name = ""]) => name);
  const code = line.trim();
  if (names.length > 0 || STATEMENT.test(code)) return names;
  const name = DECLARED_BY_BRACE.exec(code)?.[1] ?? DECLARED_AS_VALUE.exec(code)?.[1];
  return name === undefined || name === "function" ? [] : [name];
}

/** Kinds of definition that other files can use. */
const KINDS: ReadonlySet<string> = new Set(
  "function method constructor class interface type struct enum trait constant macro module property field".split(" "),
);

/** Whether other files can use a definition, by its name and the line that declares it. */
export function isPublic(
  path: string,
  { name, qualifiedName, kind }: Pick<DefinedSymbol, "name" | "qualifiedName" | "kind">,
  line: string,
): boolean {
  if (!KINDS.has(kind)) return false;
  const own = lastPart(name);
  switch (path.slice(path.lastIndexOf(".") + 1).toLowerCase()) {
    case "go":
      return /^\p{Lu}/u.test(own);
    case "py":
    case "pyi":
      return nameParts(qualifiedName).every((part) => !part.startsWith("_") || /^__\w+__$/.test(part));
    case "java":
    case "cs":
      return /\b(?:public|protected)\b/.test(line);
    case "rs":
      return /\bpub\b/.test(line);
    case "c":
    case "h":
      return !/\bstatic\b/.test(line);
    case "ts":
    case "tsx":
    case "mts":
    case "cts":
    case "js":
    case "jsx":
    case "mjs":
      // A member belongs to what its class is; whether that is exported stands on another line.
      return /^\s*export\b/.test(line) || (kind === "method" && !/^\s*(?:private\b|#|_)/.test(line));
    default:
      return !/\bprivate\b/.test(line) && !own.startsWith("_");
  }
}
