/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "d212baf68ff1ff1b82cc94436c16c8a7faafcff95edede661810205de3ba8065";
