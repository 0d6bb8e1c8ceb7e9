/** Where a line has a name. */

/** Whether a character may be part of a name. */
export const isPartOfName = (character = ""): boolean => /[\p{L}\p{N}_$]/u.test(character);

/**
 * What is before and behind each occurrence of a name in a line, without those that only begin a longer name. What is before one may end with
 * a part of a name.
 */
export function occurrencesOf(text: string, name: string): { before: string; after: string }[] {
  const found: { before: string; after: string }[] = [];
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    const after = text.slice(at + name.length);
    if (!isPartOfName(after[0])) found.push({ before: text.slice(0, at), after });
  }
  return found;
}

/** Whether a name consists of several words: a value or parameter of the same name is unlikely then. */
export const hasWords = (name: string): boolean => /[\p{Ll}\d]\p{Lu}|[\p{L}\d][_-][\p{L}\d]/u.test(name);
