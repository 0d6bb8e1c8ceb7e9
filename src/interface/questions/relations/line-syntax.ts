/** How uses are told in the lines of languages whose uses are not read. */

type Test = (before: string, after: string) => boolean;

/** How texts of a language are told from code within a line, and where a name in it names a function. */
export interface LineSyntax {
  /** Quotes of texts. */
  quotes: string;
  /** Characters of names besides letters, digits, `_` and `$`. */
  characters?: string;
  /** Characters that may stand within a name and at its end, not at its start: `add!` is a name in Julia, `!add` negates `add`. */
  endings?: string;
  /** Kinds of definitions besides functions that are used in the same way. */
  kinds?: readonly string[];
  /** Whether all uses stand in definitions other than modules: what else names a function exports, imports or declares it. */
  isWithin?: boolean;
  /**
   * Whether a name that only one definition has means that one, by what is before and behind it. Never unless given: of members, where values
   * may have the name, and where comments and texts of several lines have examples.
   */
  isSole?: Test;
  /**
   * Whether a name in code names the function, by what is before and behind it in its line. `owners` are the names before the last one of the
   * definitions' qualified names.
   */
  isUse: (before: string, after: string, owners: ReadonlySet<string>, name: string) => boolean;
}

/** `let f`, `let inline f`, `procedure f`, `set -l f`: binds the name. */
const BINDS =
  /\b(?:let|val|var|def|fun|fn|func|function|sub|proc|procedure|subroutine|method|member|macro|template|signal|abstract|import|open|export|use|using|set|variable|dim|global)\s+(?:(?:rec|inline|private|internal|mutable|public|static|-\w{1,20})\s+){0,4}$/i;
/** Lines of names that are imported or exported. */
const IMPORTS = /^(?:import|export|using|from)\s/i;
/** `name = 1`, `name := 1`, `name <- 1`, `name: 1`, `name => 1`. */
const IS_KEY = /^\s*(?:=(?![=~])|:=|<-|<<-|:(?![:=]|\s*$)|=>)/;
/** `end name`. */
const ENDS = /\bend(?:\s+\w+)?\s+$/i;

export const isPlainUse: Test = (before, after) =>
  !IMPORTS.test(before) && !BINDS.test(before) && !IS_KEY.test(after) && !ENDS.test(before) && !before.endsWith("$");

/** Where the syntax of its uses leaves nothing else. */
export const always: Test = () => true;
export const isCallOf: Test = (_before, after) => after.startsWith("(");

/** With texts in both quotes, and with those in double quotes only. */
export const PLAIN: LineSyntax = { quotes: `"'`, isUse: isPlainUse };
export const DOUBLE_QUOTED: LineSyntax = { quotes: '"', isUse: isPlainUse };

/** Whether a name is the key of an element: `$a{name}`. */
export const isBraced = (before: string, after: string): boolean => before.endsWith("{") && after.startsWith("}");
