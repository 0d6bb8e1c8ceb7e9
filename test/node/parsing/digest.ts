/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "e10b3d9df35b26530d45973fa18b06c116d322503682b93e49737295dd867b10";
