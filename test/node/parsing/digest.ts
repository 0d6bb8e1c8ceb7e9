/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "54c2a6a8c01f526826487a60cbcdc8c73690790ab2ce6c22e97720e7d57bcaf9";
