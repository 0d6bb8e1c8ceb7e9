/** Statements of SQL, and the objects that they create, in the dialects of PostgreSQL, MySQL, SQLite, SQL Server and Oracle. */
import { SOLID } from "../levels.ts";
import type { SourceText } from "../source-text.ts";
import type { Outline, SymbolKind } from "../types.ts";
import { OutlineBuilder } from "./outline-builder.ts";
import { withParts } from "./templates.ts";

/** Lines of comment above a statement that are its doc. */
const MAX_DOC_LINES = 200;
/** Characters of a statement in which what it creates is looked for. */
const MAX_HEAD = 2_000;
/** Characters of the head of a function in a package. */
const MAX_MEMBER_HEAD = 500;

/** The end of the file; `$` is that of a line here. */
const END = String.raw`(?![\s\S])`;
const COMMENT = String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|${END})`;
const QUOTED_NAME = String.raw`"(?:[^"]|"")*(?:"|${END})|${"`[^`]*(?:`|"}${END})`;
const TEXT = String.raw`'(?:[^']|'')*(?:'|${END})`;
/** Of MySQL, where a backslash may stand before a quote. */
const ESCAPED_TEXT = String.raw`'(?:[^'\\]|\\[\s\S]|'')*(?:'|${END})`;
const DOLLARS = String.raw`(\$\w*\$)[\s\S]*?(?:\1|${END})`;
/** Lines that end a statement, whatever it is: `GO`, `/`, commands of psql, and changes of the delimiter. */
const LINE = String.raw`^[ \t]{0,99}(?:go(?:[ \t]+\d+)?[ \t]*;?[ \t]*\r?$|\/[ \t]*\r?$|\\[^\n]*|delimiter[ \t]+\S+[ \t]*\r?$|create\b)`;
const WORD = String.raw`\b(?:begin(?:\s+(?:tran|transaction|work|distributed|dialog|conversation)\b)?|end(?:\s+(?:if|loop|while|repeat|for|conversation)\b)?|case|is|as|(?:function|procedure)\s+"?[\w$#]+"?)(?![\w$])`;
const TOKEN = new RegExp(String.raw`${COMMENT}|${TEXT}|${QUOTED_NAME}|${DOLLARS}|;|${LINE}|${WORD}`, "gim");
/** Dollars are a delimiter there, and quote no text. */
const MYSQL_TOKEN = new RegExp(
  String.raw`${COMMENT}|${ESCAPED_TEXT}|${QUOTED_NAME}|\$\$|;{1,2}|\/\/|${LINE}|${WORD}`,
  "gim",
);
const MYSQL = /^[ \t]{0,99}delimiter[ \t]+\S|\bengine\s?=\s?\w|\bauto_increment\b|^-- (?:mysql|mariadb) dump/im;

const PART = String.raw`(?:"[^"]*"|${"`[^`]*`"}|\[[^\]]*\]|@\w+@|\$[({]\w+[)}]|[#:]{0,2}[\w$]+)`;
const WORDS = String.raw`(?:(?:temp(?:orary)?|unlogged|unique|recursive|external|virtual|clustered|nonclustered|fulltext|spatial|bitmap|editionable|noneditionable|constraint|algorithm\s*=\s*\w+|definer\s*=\s*\S+|sql\s+security\s+\w+|global|local)\s+)*`;
const WHAT = String.raw`(materialized\s+view|foreign\s+table|table|view|function|proc(?:edure)?|trigger|event|index|package\s+body|package|type\s+body|type|schema|database|sequence|domain|policy|role|extension|aggregate|synonym)`;
const CREATE = new RegExp(
  String.raw`^(?:create\s+(?:or\s+(?:replace|alter)\s+)?|(alter)\s+)${WORDS}${WHAT}\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?(${PART}(?:\s*\.\s*${PART})*)`,
  "i",
);
const KINDS: Readonly<Record<string, SymbolKind>> = {
  table: "table",
  "foreign table": "table",
  view: "view",
  "materialized view": "view",
  function: "function",
  procedure: "function",
  proc: "function",
  aggregate: "function",
  trigger: "function",
  event: "function",
  package: "module",
  "package body": "module",
  type: "type",
  "type body": "type",
  domain: "type",
  schema: "namespace",
  database: "namespace",
};
/** What has a body of statements. */
const ROUTINE = /^(?:function|proc|procedure|trigger|event)$/;
const PACKAGE = /^(?:package|package body|type body)$/;

interface Block {
  /** Open `begin`, `case` and packages. */
  depth: number;
  /** `is` or `as` came, and no text behind it. */
  hasBody: boolean;
  hasBegun: boolean;
}

/** An object whose statement is read. */
interface Created extends Block {
  what: string;
  name: string;
  /** Functions in a package; those within them are local. */
  members: Member[];
  /** Those that are read, the innermost last. */
  open: Member[];
}

interface Member extends Block {
  name: string;
  start: number;
  /** -1 while it is open. */
  end: number;
  /** In another one. */
  isLocal: boolean;
}

/** The objects that statements create are the symbols, with the functions of packages, and macros where the file is a template, as in dbt. */
export function sqlOutline(source: SourceText): Outline {
  return new SqlReader(source).read();
}

const NOT_BEGUN = { depth: 0, hasBody: false, hasBegun: false };
/** Characters behind `as` in which a text may begin. */
const MAX_GAP = 100;

/** A semicolon ends a function of a package if it has no body, or if its body has ended. */
function endMember({ open }: Created, end: number): void {
  const inner = open.at(-1);
  if (!inner || inner.depth > 0 || (inner.hasBody && !inner.hasBegun)) return;
  inner.end = end;
  open.pop();
}

class SqlReader {
  readonly #builder: OutlineBuilder;
  readonly #text: string;
  /** `GO` separates the batches of the file, or a line with `/` its statements. */
  readonly #isBatched: boolean;
  #delimiter = ";";
  /** Where the statement begins, with the comments above it, and where its code does. */
  #start = 0;
  #code: number | undefined;
  /** Start of the current part of the statement. A semicolon ends a part, and the statement too if it is in no body. */
  #part = 0;
  #created: Created | undefined;

  constructor(source: SourceText) {
    this.#builder = new OutlineBuilder(source);
    this.#text = source.text;
    this.#isBatched = /^[ \t]{0,99}(?:go[ \t]*;?|\/)[ \t]*\r?$/im.test(this.#text);
  }

  read(): Outline {
    const text = this.#text;
    let position = 0;
    for (const match of text.matchAll(MYSQL.test(text) ? MYSQL_TOKEN : TOKEN)) {
      const [token] = match;
      this.#begin(text.slice(position, match.index), position);
      position = match.index + token.length;
      if (/^(?:--|\/\*)/.test(token)) continue;
      this.#token(token, match.index, position);
    }
    this.#begin(text.slice(position), position);
    this.#end(text.length);
    return withParts(this.#builder);
  }

  /** Code begins at the first character that is no space. */
  #begin(between: string, at: number): void {
    const code = between.trimStart();
    if (this.#code === undefined && code !== "") this.#startCode(at + between.length - code.length);
  }

  #startCode(at: number): void {
    this.#code = at;
    const found = CREATE.exec(this.#text.slice(at, at + MAX_HEAD));
    const what = found?.[2]?.toLowerCase().replace(/\s+/g, " ");
    // `ALTER PROCEDURE` defines it in SQL Server, elsewhere it alters its properties.
    if (!found || what === undefined || (found[1] !== undefined && !(this.#isBatched && ROUTINE.test(what)))) return;
    const name = (found[3] ?? "").replace(/["`[\]]/g, "").replace(/\s{0,100}\.\s{0,100}/g, ".");
    this.#created = { ...NOT_BEGUN, what, name, members: [], open: [] };
  }

  #token(token: string, at: number, end: number): void {
    const word = token.trimStart().toLowerCase();
    const from = end - word.length;
    if (token === this.#delimiter && token !== ";") this.#end(end);
    else if (word.startsWith(";")) {
      if (this.#continues(end)) this.#endPart(end);
      else this.#end(end);
    } else if (word.startsWith("\\") || word.startsWith("delimiter") || /^(?:go\b|\/\s*$)/.test(word)) {
      this.#end(at);
      this.#end(end);
      if (word.startsWith("delimiter")) this.#delimiter = word.trim().split(/\s+/)[1] ?? ";";
    } else if (word === "create" && this.#mayEnd()) {
      if (this.#code !== undefined) this.#end(at);
      this.#startCode(from);
    } else {
      this.#begin(word, from);
      if (/^[a-z]/.test(word)) this.#word(word, from);
    }
  }

  /** Whether a statement may begin here although the one before has no semicolon or other delimiter. */
  #mayEnd(): boolean {
    if (!this.#isRoutine()) return true;
    return !this.#isBatched && this.#created?.depth === 0 && this.#created.hasBegun;
  }

  #isRoutine(): boolean {
    const { what = "" } = this.#created ?? {};
    return ROUTINE.test(what) || PACKAGE.test(what);
  }

  /** Whether a semicolon stands within a routine. */
  #continues(end: number): boolean {
    const created = this.#created;
    if (!created || !this.#isRoutine()) return false;
    endMember(created, end);
    if (this.#isBatched || this.#delimiter !== ";" || created.depth > 0) return true;
    return created.hasBody && !created.hasBegun;
  }

  /** Follows the blocks of a routine. */
  #word(word: string, at: number): void {
    const created = this.#created;
    if (!created || !this.#isRoutine()) return;
    const inner = created.open.at(-1);
    const block = inner ?? created;
    const isPackage = PACKAGE.test(created.what);
    const name = /^(?:function|procedure)\s+"?([\w$#]+)/i.exec(this.#text.slice(at, at + word.length))?.[1];
    if (name !== undefined) {
      if (!isPackage || !created.hasBody || inner?.hasBegun === true) return;
      const begun = { ...NOT_BEGUN, name, start: at, end: -1, isLocal: inner !== undefined };
      created.members.push(begun);
      created.open.push(begun);
    } else if (word === "is" || word === "as") {
      if (block.hasBody || created.what === "trigger") return;
      if (isPackage && block === created) created.depth++;
      // A text is the body in PostgreSQL, and ends with it.
      block.hasBody = !/^\s*(?:'|\$\w*\$)/.test(this.#text.slice(at + word.length, at + MAX_GAP));
    } else if (word === "begin" || word === "case") {
      // The block that initialises a package ends with it.
      if (block === inner || !isPackage) block.depth++;
      block.hasBegun ||= word === "begin";
    } else if (word === "end") block.depth = Math.max(0, block.depth - 1);
  }

  /** The lines of a part stay together. */
  #endPart(end: number): void {
    const { source, levels } = this.#builder;
    const head = this.#text.slice(this.#part, end);
    if (head.trim() === "") return;
    const first = source.rowAt(this.#part + head.length - head.trimStart().length);
    const last = source.rowAt(Math.max(end - 1, 0));
    for (let row = first + 1; row <= last; row++) levels[row] = SOLID;
    levels[first] = first > 0 && source.isBlank(first - 1) ? 1 : 2;
    this.#part = end;
  }

  #end(end: number): void {
    this.#endPart(end);
    if (this.#created && this.#code !== undefined) this.#add(this.#created, this.#code, end);
    this.#start = end;
    this.#part = end;
    this.#code = undefined;
    this.#created = undefined;
  }

  #add({ what, name, members }: Created, code: number, end: number): void {
    const { source } = this.#builder;
    const head = this.#text.slice(this.#start, end);
    const row = source.rowAt(code);
    const endRow = source.rowAt(Math.max(code, code + this.#text.slice(code, end).trimEnd().length - 1));
    const index = this.#builder.add({
      kind: KINDS[what] ?? "object",
      name,
      startRow: row,
      endRow,
      leadRow: source.rowAt(this.#start + head.length - head.trimStart().length),
      doc: this.#docAbove(row),
      signature: this.#text
        .slice(code, Math.min(end, code + MAX_HEAD))
        .split(/\s(?:as|is|begin)\s|\(\s*\n|\$\w*\$/i)[0]!,
    });
    for (const member of members.filter(({ isLocal }) => !isLocal)) this.#addMember(member, { index, endRow });
  }

  #addMember({ name, start, end }: Member, { index, endRow }: { index: number | null; endRow: number }): void {
    const { source } = this.#builder;
    const row = source.rowAt(start);
    this.#builder.add({
      kind: "function",
      name,
      startRow: row,
      endRow: end < 0 ? endRow : source.rowAt(end - 1),
      parent: index,
      separator: ".",
      doc: this.#docAbove(row),
      signature: this.#text.slice(start, start + MAX_MEMBER_HEAD).split(/;|\s(?:as|is|begin)\s/i)[0]!,
    });
  }

  #docAbove(row: number): string | null {
    const lines: string[] = [];
    for (let at = row - 1; at >= Math.max(row - MAX_DOC_LINES, 0); at--) {
      const line = this.#builder.source.line(at).trim();
      if (!line.startsWith("--")) break;
      lines.push(line.replace(/^--+\s?/, ""));
    }
    const doc = lines.toReversed().join("\n").trim();
    return doc === "" ? null : doc;
  }
}
