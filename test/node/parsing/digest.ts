/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "16ad08d23828593351de2718011bc640196fe0316468b3ead04c382f0ba1196f";
