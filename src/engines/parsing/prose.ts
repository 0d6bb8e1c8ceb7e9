/** Characters of a folded head; one that has as many may be cut. */
export const MAX_SIGNATURE_CHARACTERS = 300;
const MAX_DOC_CHARACTERS = 2000;

/** A declaration head on one line: whitespace folded, the opening of its body dropped, at most 300 characters. */
export function foldSignature(head: string): string {
  // Twice the limit is enough input: indentation seldom takes more than half.
  const folded = head
    .slice(0, MAX_SIGNATURE_CHARACTERS * 4)
    .replace(/\s+/g, " ")
    .trim()
    // Remove the rest of a macro's line continuation or an opened body.
    .replace(/(?:\s*(?:\\|\{|=>|->|=|:|\bdo|\bbegin|\bthen|;|,))+$/, "");
  return cut(folded, MAX_SIGNATURE_CHARACTERS);
}

/** At most `limit` UTF-16 units, never half a surrogate pair. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const code = text.charCodeAt(limit - 1);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? limit - 1 : limit);
}

/** A doc is cut at 2,000 characters; this much raw comment text, with markers and indentation, is enough for that. */
const MAX_COMMENT_CHARACTERS = 8000;

/** C# wraps its doc comments in these. */
const XML_DOC_TAG = /<\/?(?:summary|remarks|para)\s*\/?>/g;

export function limitDoc(doc: string): string {
  return cut(doc, MAX_DOC_CHARACTERS).trimEnd();
}

/** The text of comments: markers (`//`, `/** … *\/`, `#`, `--`, `"""`) and common indentation are dropped. */
export function cleanComment(comments: readonly string[]): string {
  const lines: string[] = [];
  let characters = 0;
  for (const whole of comments) {
    if (characters > MAX_COMMENT_CHARACTERS) break;
    const comment = whole.slice(0, MAX_COMMENT_CHARACTERS);
    characters += comment.length;
    const block = /^\s*(?:\/\*+!?|<!--|--\[=*\[|\{-|\/-[-!]?|\(\*+|\{(?!\$)|=begin\b)/.exec(comment);
    const inner = block
      ? comment
          .slice(block[0].length)
          .trimEnd()
          .replace(/(?:\*{1,200}[/)]|-->|--\]\]|\]={0,200}\]|-?\}|-\/|=end)$/, "")
          .trimEnd()
      : comment;
    for (const line of inner.split(/\r?\n/)) {
      lines.push(
        block
          ? line.replace(/^\s*\*+(?:\s|$)/, "")
          : line.replace(/^\s*(?:\/\/[/!]*|#+[!']?|--+(?: [|^])?|;+|%+|\/?\*+\/?)\s?/, ""),
      );
    }
  }
  return dedent(lines.map((line) => line.replace(XML_DOC_TAG, "")));
}

/** Lines without their common indentation, and without blank lines at both ends. */
export function dedent(lines: readonly string[]): string {
  const rest = lines.slice(1).filter((line) => line.trim() !== "");
  const indent = rest.reduce(
    (least, line) => Math.min(least, line.length - line.trimStart().length),
    Number.POSITIVE_INFINITY,
  );
  return lines
    .map((line, index) => (index === 0 ? line.trim() : line.slice(Number.isFinite(indent) ? indent : 0).trimEnd()))
    .join("\n")
    .trim();
}
