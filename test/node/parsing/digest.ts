/**
 * SHA-256 of every case's parse, in order of file name. When it changes, stored indexes differ from new ones: raise
 * `PARSER_VERSION`.
 */
export const CASES_DIGEST = "728fa73f17f346940492f251579f6facde889a91d74b2345d4e40da9403054fb";
