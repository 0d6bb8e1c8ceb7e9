/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "7bd0b3eab4901e8f9b42807d121b2e65f5b96a40c0d7cb1061ec5ac11d7ab102";
