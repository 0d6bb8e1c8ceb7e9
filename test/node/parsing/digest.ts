/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "0a926b65b48dbdd8ba68d209aa0403544d19f1a435204eefea570bfc35b79d4c";
