/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "3002346c3a5d04b40e4295b5f284f9600fc13ae50077f784a9caeb2d08a408cc";
