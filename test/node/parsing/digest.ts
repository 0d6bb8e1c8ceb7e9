/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "8808a2b110d7c0820f42bd7ccc524c179b69ccc9a8a1f04faed948fdc9a2bbb5";
