/** Raised whenever the same bytes may give other symbols or chunks than before, or a name may be left out. In a file of its own: readers need no parser. */
export const PARSER_VERSION = 1;
