/** Names of definitions as they are looked up, and qualified names of any language. */

/** Longer keys are cut to this length; headings and configuration keys can be long. */
const MAX_KEY_UNITS = 80;

/** Lower-cases ASCII letters only, so that case-insensitive comparison is the same on every platform. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Parts of a qualified name, in the notation of any language: `Sinatra::Base`, `Plug.Builder`, `Foo#bar`, `a/b`, `x->y`. A selector of
 * Objective-C, `store:forKey:`, is its first part, which its method is named by.
 */
export function nameParts(name: string): string[] {
  const whole = name.endsWith(":") && /[^:]:[^:]/.test(name) ? name.slice(0, name.indexOf(":")) : name;
  return whole.split(/[.:#/\\\s]|->/).filter((part) => part !== "");
}

/** Last part of a qualified name; the name itself where it has none. */
export function lastPart(name: string): string {
  return nameParts(name).at(-1) ?? name;
}

/** Key that a definition is found by: the last part of its name, or the whole text of a heading or key, in lower case. */
export function nameKey(name: string, kind: string): string {
  const isText = kind === "heading" || kind === "key" || kind === "rule" || kind === "element";
  return foldCase(isText ? name.trim() : lastPart(name)).slice(0, MAX_KEY_UNITS);
}

/**
 * A byte by which most names of other scopes are recognised without reading their symbols: a hash of the second last part of a
 * qualified name, 1 to 255; 0 if there is only one part.
 */
export function scopeByte(parts: readonly string[]): number {
  const scope = parts.at(-2);
  if (scope === undefined) return 0;
  let hash = 0;
  for (let i = 0; i < scope.length; i++) hash = (Math.imul(hash, 31) + scope.charCodeAt(i)) >>> 0;
  return 1 + (hash % 255);
}

/** Whether the parts of a qualified name end with the wanted ones. */
export function endsWithParts(parts: readonly string[], wanted: readonly string[]): boolean {
  const offset = parts.length - wanted.length;
  return offset >= 0 && wanted.every((part, i) => parts[offset + i] === part);
}
