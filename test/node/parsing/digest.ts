/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "d9e9d4145d300e505722d96048d66330fa6b710d17b207bfa5c0941b3d4e6bc3";
