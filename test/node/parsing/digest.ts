/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "542212818f742334cd4480754d6ad50297b280e67092457d5be9ae22cd026c97";
