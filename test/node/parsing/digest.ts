/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "db93d30cae5a39ee2cbd9c0ca97f3c95bb69f110101c58adf5a35ba379183ad9";
