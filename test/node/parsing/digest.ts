/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "7787efd1c94e45872c913690bc247faaabb60877234eecb6c6c0012297ce3f33";
