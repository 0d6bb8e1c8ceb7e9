/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "f58780de32752377eb4acdd4201d2e89b9c796cc0c0364871cac3999c1d09a93";
