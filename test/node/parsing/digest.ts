/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "9c0836bd27a77673af3afd4ca8c0c7982a7cfa7e1fe9ec8d0d783267c8aef128";
