/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "22c343e8f5eedc5ca116397c23155ca1a0cadfe46fa5e49cc32778a47f2662aa";
