/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "aa2f813ae9eb1092d20dbdd4b4fa77a32a0954d430cc9bbc6982b7439cb77529";
