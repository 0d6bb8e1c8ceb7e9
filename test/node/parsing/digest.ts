/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "fe731cf9117898c034c65a744837ad880c4cab9fd398154918f50c368d2e17fe";
