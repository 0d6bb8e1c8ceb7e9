/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "268079fe79856d4438e136de5b76071a1dd8f0b1a839e48544ad90701dc61f0d";
