/** Increment when the same bytes may give other symbols or chunks (secrets aside), be detected as another language, or skipped for another reason. */
const STRUCTURE_VERSION = 19;
/** Increment when the rules for secrets change: indexed content is then searched again. */
const SECRET_RULES_VERSION = 12;

/**
 * Version of everything that determines the stored data of a content; part of its key in every index. A separate module,
 * so that readers of an index need not load the parser.
 */
export const PARSER_VERSION = STRUCTURE_VERSION * 1000 + SECRET_RULES_VERSION;
