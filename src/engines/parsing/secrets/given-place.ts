/** Tells places where words are a password from prose and code. */
import type { GivenPlace } from "./given.ts";

/** A value behind a name, and what is around it. */
export interface Value {
  start: number;
  text: string;
  /** Only a space separates name and value. */
  loose: boolean;
  quoted?: boolean;
  /** Whether the line has nothing but it and its name, and a space behind the colon or the sign. */
  isWhole?: boolean;
  /** Whether it is quoted behind a sign of assignment. */
  mayBeWords?: boolean;
  /** Whether it is the text of an XML or HTML element. */
  isElement?: boolean;
  /** Whether it is the next one in a list, or the next argument. */
  isListed?: boolean;
  /** Whether a verb separates name and value. */
  isSentence?: boolean;
  /** Whether its name is that of an option of a command. */
  isFlag?: boolean;
  /** Whether a line has nothing in front of its name and nothing behind it. */
  endsLine?: boolean;
}

/** Lines that end as statements of source code do, or begin as declarations. */
const CODE =
  /[;{(]\r?\n|\) {0,8}:\r?\n|=>\s|^[ \t]{0,80}(?:import|from|def|class|func|fn|function|package|use|using|const|let|var|interface|type|struct|public|private|return)[ \t]/m;

/** Whether a text has no statements of source code. */
export const hasNoCode = (text: string): boolean => !CODE.test(text);

/** Another setting in front of the name or behind the value on the same line: `host=… password=… dbname=…`. */
const SETTING_BEFORE = /(?:^|[\s"'`?&])[\w.-]{1,40}=[^\s"'`=,;(){}&]{1,100}[ &][\w.-]{0,40}$/;
const SETTING_AFTER = /^[ &][A-Za-z][\w.-]{1,40}=[^\s=]/;
const AROUND = 160;

/** Whether a name and its value are one of several settings, separated by spaces or by `&`. */
function isListedSetting(text: string, nameStart: number, valueEnd: number): boolean {
  const quote = text[nameStart - 1];
  if ((quote === '"' || quote === "'") && text[valueEnd] === quote && text.slice(nameStart, valueEnd).includes("="))
    return true;
  return (
    SETTING_AFTER.test(text.slice(valueEnd, valueEnd + 50)) ||
    SETTING_BEFORE.test(text.slice(Math.max(0, nameStart - AROUND), nameStart))
  );
}

/** What kind of place a value stands in that words may be; undefined for one of prose or code. */
export function givenPlace(
  text: string,
  name: { start: number; end: number },
  value: Value,
  isSettings: () => boolean,
): GivenPlace | undefined {
  if (value.isListed === true) return undefined;
  if (value.mayBeWords === true) return value.quoted === true ? "quoted" : "setting";
  if (value.quoted === true)
    return value.endsLine === true ||
      (/[`*]/.test(text[value.start - 1]!) && name.end - name.start > "pass".length) ||
      text.slice(name.start, name.end) === "PASSWORD"
      ? "quoted"
      : "joined";
  if (value.isElement !== true && !isNextTo(text, name.end, value.start)) return undefined;
  if (value.isSentence === true && /\d/.test(value.text)) return "joined";
  if (value.loose) return undefined;
  if (isListedSetting(text, name.start, value.start + value.text.length)) return "setting";
  if (value.isElement === true) return DIRECT.test(text.slice(name.end, value.start)) ? "quoted" : "joined";
  return value.endsLine === true && isSettings() ? "setting" : "joined";
}

/** Whether a value begins on its name's line, or as a block of YAML below it. */
const isNextTo = (text: string, from: number, to: number): boolean =>
  /^[^\n]*$|[|>][+-]?\s{1,40}$/.test(text.slice(from, to));

/** Between a name and a value of the same element, or of one that has the name as its key. */
const DIRECT = /^[^<\n]{0,80}>\s{0,40}$|<\/key>\s{0,40}<string>$|<value>$/;

/** Calls with a name and its value, and comparisons. */
export const TAKES_NAME =
  /(?:cmp|[eE]quals?|[cC]ompare)\w{0,10}\(\s{0,4}[\w.&*>-]{0,24}$|(?:[sS]et|[pP]ut|insert|[dD]efault|String|Property|env)\w{0,16}\(\s{0,4}["'][\w.]{0,20}$/;
/** Directives that are followed by a password, which no words of prose are. */
export const OWN_DIRECTIVE = /[_-]|^(?:requirepass|masterauth|bindpw|rootpw)$/;
const LINE_START = /^[ \t]{0,40}(?:(?:-|export|set|ENV|ARG)[ \t]{1,4})?[\w./-]{0,80}$/;

/** Whether a line has only a name, which may be the end of a longer one, and its value. */
export function isOwnLine(text: string, nameStart: number, value: { start: number; text: string }): boolean {
  const before = text.slice(Math.max(0, nameStart - 130), nameStart);
  const end = value.start + value.text.length;
  return (
    LINE_START.test(before.slice(before.lastIndexOf("\n") + 1)) &&
    /^["']?[ \t]{0,4}(?:#[^\n]{0,20}|\r?\n|$)/.test(text.slice(end, end + 26))
  );
}
