/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "c1d654d46b52b38c62da1d8996def809a44f64c14d001459ca392c057d6f26ec";
