/** Raise when the same bytes may give other symbols or chunks than before (secrets apart), or are taken for another language. */
const STRUCTURE_VERSION = 3;
/** Raise when the rules for secrets change: content that is indexed already is then searched again. */
export const SECRET_RULES_VERSION = 2;

/**
 * Version of everything that decides what is kept of a content; part of its key in every index. In a module of its own,
 * because readers of an index load no parser.
 */
export const PARSER_VERSION = STRUCTURE_VERSION * 1000 + SECRET_RULES_VERSION;
