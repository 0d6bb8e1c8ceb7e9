/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "d8b0ca0821ce25829e2f633413b17867b6be96336521a608bc88a103f4feb9b5";
