/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "b12394cd462dc5bce8c2f37c64e7f5f2e28e948800f26418455897e613bd0402";
