/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "5b0c94d894f1747fe6e4254bc962b9dd92021aba07799e37b3f864ac7aaa261c";
