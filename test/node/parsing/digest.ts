/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "555f31c633866351b76a8176da51ce3f82ef3b22111470f2daaa96ce9c04c7c9";
