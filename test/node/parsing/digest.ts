/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "90251d6192df11430f171659a05d8acfb86fa51707c64b0936272c18e1647166";
