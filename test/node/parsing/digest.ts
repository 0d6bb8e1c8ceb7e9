/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "11f4082ee42f08a35e8c7a6f002c43aa807190ea7c29e3df1892fcba5aa48a55";
