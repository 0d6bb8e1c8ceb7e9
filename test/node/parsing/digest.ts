/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "4293f83056b280b32de23115051407fc3e77127db5dd3bbf7c03bccfe6b731f8";
