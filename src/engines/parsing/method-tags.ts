/** Methods that the documentation of a PHP class declares by `@method` tags; the facades of Laravel have no others. */

/** Of a longer documentation comment only the last part, of this length, is read. */
const MAX_DOC_UNITS = 32_768;
const TAG = "@method ";

export interface MethodTag {
  name: string;
  /** Type that it returns as written; empty if the tag has none. */
  type: string;
  /** Range of what stands behind the tag, to the end of the line. */
  start: number;
  end: number;
}

/** Tags of the documentation that ends before `end`, where a class begins. Linear in the documentation's length. */
export function methodTags(text: string, end: number): MethodTag[] {
  const from = Math.max(0, end - MAX_DOC_UNITS);
  const before = text.slice(from, end).trimEnd();
  if (!before.endsWith("*/")) return [];
  const tags: MethodTag[] = [];
  const first = Math.max(0, before.lastIndexOf("/**"));
  for (let at = before.indexOf(TAG, first); at >= 0; at = before.indexOf(TAG, at + 1)) {
    const start = at + TAG.length;
    const lineEnd = before.indexOf("\n", start);
    const line = before.slice(start, lineEnd < 0 ? undefined : lineEnd).trimEnd();
    // A return type may have braces and brackets, but rarely parentheses.
    const head = line.slice(0, Math.max(0, line.indexOf("("))).trimEnd();
    const name = /(?<!\w)\w+$/.exec(head)?.[0];
    if (name === undefined) continue;
    const type = head.slice(0, -name.length).trim().split(/\s+/).at(-1) ?? "";
    tags.push({
      name,
      type: type === "static" ? "" : type,
      start: from + start,
      end: from + start + line.length,
    });
  }
  return tags;
}
