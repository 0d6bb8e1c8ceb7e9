/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "857ab251a4d9576c7cc7446e1f5d7d4dbb68720fbf10f437e8ac67fa278039a6";
