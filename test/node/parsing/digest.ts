/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "3e1cced303ff31d456c8665776cfff89cf60b9af09ffcd5bec5604a6d6ebc025";
