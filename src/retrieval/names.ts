/** Names of definitions as they are looked up, and qualified names of any language. */

/** Longest part of a name that is looked up by; headings and keys can be longer. */
const MAX_KEY_UNITS = 80;

/** Letters of ASCII in lower case, as names are compared without regard to case. The same on every platform. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Parts of a qualified name, whatever the language joins them by: `Sinatra::Base`, `Plug.Builder`, `Foo#bar`, `a/b`, `x->y`. */
export function nameParts(name: string): string[] {
  return name.split(/[.:#/\\\s]|->/).filter((part) => part !== "");
}

/** Last part of a qualified name; the name itself where it has none. */
export function lastPart(name: string): string {
  return nameParts(name).at(-1) ?? name;
}

/** What a definition is looked up by: the last part of its name, of a heading or key the whole, without regard to case. */
export function nameKey(name: string, kind: string): string {
  const isText = kind === "heading" || kind === "key" || kind === "rule" || kind === "element";
  return foldCase(isText ? name.trim() : lastPart(name)).slice(0, MAX_KEY_UNITS);
}

/** Whether the parts of a qualified name end with the wanted ones. */
export function endsWithParts(parts: readonly string[], wanted: readonly string[]): boolean {
  const offset = parts.length - wanted.length;
  return offset >= 0 && wanted.every((part, i) => parts[offset + i] === part);
}
