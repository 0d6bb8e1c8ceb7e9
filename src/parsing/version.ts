/** Raised whenever the same bytes may give other symbols or chunks than before. In a file of its own: readers need no parser. */
export const PARSER_VERSION = 1;
