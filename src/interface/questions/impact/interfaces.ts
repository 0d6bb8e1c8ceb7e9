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
  /\b(?:function|class|def|func|fn|interface|type|struct|enum|trait)\s{1,20}(?:\([^()]{0,100}\)\s{0,20})?([\p{L}_$][\p{L}\p{N}_$]{0,99})/gu;

/** Names that a line declares, as most languages write it. */
export function declaredNames(line: string): string[] {
  return [...line.slice(0, MAX_LINE).matchAll(DECLARED)].map(([, name = ""]) => name);
}

/** Kinds of definition that other files can use. */
const KINDS: ReadonlySet<string> = new Set(
  "function method constructor class interface type struct enum trait constant macro module property field".split(" "),
);

/** Whether other files can use a definition, by its name and the line that declares it. */
export function isPublic(path: string, { name, qualifiedName, kind }: DefinedSymbol, line: string): boolean {
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
