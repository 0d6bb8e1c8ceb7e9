/** The words of a text, which white space separates. */
export const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));
