/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "d38939a4728c7889fa927c431c93e51b29ae0b1ae15253f85c89591a23c5ff58";
