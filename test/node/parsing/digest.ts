/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "e01359f96d82ecd1bb32d3e17572db2d7d5c2337664b72bb372968f5a6455f9a";
