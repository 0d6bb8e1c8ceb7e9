/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "2b92f4af84dae1effa85c748046abffe0da84547ba0c291a779355c796082bdb";
