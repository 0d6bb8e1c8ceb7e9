/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "1d672621c95e868c11dec5e97f5a43e1077f19026b51e1f0b7a1b784a7eec545";
