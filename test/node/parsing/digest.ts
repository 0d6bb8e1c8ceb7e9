/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "c157e62137805a40a15f5ecacf90550fde25d1a235b79cc18b2186b523479546";
