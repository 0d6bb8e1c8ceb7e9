/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "ff76f016aa0046b515594769e650e30aa066eed6899081cf549742de5ecbab2d";
