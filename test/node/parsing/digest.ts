/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "6161a8a6122c5af83563dc52f40d16efa6af22e310a99516ef75d33a7c4eca5e";
