/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "256224425b59641e782cc2125672ff4b4d79aff2d4c6a580a834995c50b50cd5";
