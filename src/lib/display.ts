/**
 * How foreign text is shown to people and models: on a terminal, in MCP answers and on pages. JSON for programs stays faithful.
 */

/**
 * What is not seen as a character of its own: controls, line and paragraph separators, marks of direction, zero-width and tag
 * characters, variation selectors (but for one after an emoji), lone surrogates. They can hide text from a person that a model reads,
 * forge lines, reorder a name, or steer a terminal. The tab is left.
 */
const UNSEEN = /(?!\t|(?<=\p{Emoji})[\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Matches every character that `UNSEEN` may match, and others. Most lines of code have none, and this test is many times faster. */
const SPECIAL = /[^\t\x20-\x7e]/;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
  return code < 0x1_0000 ? `\\u${digits.padStart(4, "0")}` : `\\u{${digits}}`;
}

/** A text as one line: unseen characters, line breaks among them, as escapes (`\x1b`, `\x0a`, `\u202e`, `\u{e0041}`). */
export function visible(line: string): string {
  return SPECIAL.test(line) ? line.replace(UNSEEN, escaped) : line;
}

/** A text of several lines; CRLF becomes LF, other unseen characters become escapes. */
export function visibleLines(text: string): string {
  return text.split(/\r?\n/).map(visible).join("\n");
}

/** Fields that hold several lines; every other text of an answer is one line. */
const BLOCKS: ReadonlySet<string> = new Set(["text", "body"]);

/** A copy of an answer in which every text is {@link visible}. */
export function visibleAnswer<T>(answer: T, field = ""): T {
  if (typeof answer === "string") return (BLOCKS.has(field) ? visibleLines(answer) : visible(answer)) as T;
  if (Array.isArray(answer)) return answer.map((item: unknown) => visibleAnswer(item, field)) as T;
  if (typeof answer !== "object" || answer === null) return answer;
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, visibleAnswer(value, key)])) as T;
}

/** One-line JSON of the same value, with unseen characters as JSON's own escapes. */
export function visibleJson(value: unknown): string {
  const units = (character: string): string =>
    Array.from({ length: character.length }, (_, i) => {
      return `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
    }).join("");
  return JSON.stringify(value).replace(UNSEEN, units);
}

/** `1 file`, `2 files`. */
export function numberOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Contents of a form field, a tag, or text between tags. */
const HTML_PARTS = /<textarea\b[^<>]*>[^<]*<\/textarea>|<[^<>]*>|[^<]+/g;
/** Most parts of a page of code, where the look at each character would take half of the time. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;
const SHOWN_ATTRIBUTES = / (?:title|alt|aria-label|placeholder)="[^"]*"/g;

/** HTML whose shown text has unseen characters as escapes. Values of fields and links are left, because they are sent back. */
export function visibleHtml(html: string): string {
  return html.replace(HTML_PARTS, (part) => {
    if (PLAIN.test(part)) return part;
    if (!part.startsWith("<")) return visibleLines(part);
    return part.startsWith("<textarea") ? part : part.replace(SHOWN_ATTRIBUTES, visible);
  });
}
