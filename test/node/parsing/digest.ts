/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "bf62c55e13b9fd7ce3a8bec51a5db2389a459cc710b2685baa35a9b964cf3c6a";
