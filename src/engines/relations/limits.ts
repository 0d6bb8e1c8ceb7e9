/** Levels of a tree that are read: deeper expressions are generated. */
export const MAX_DEPTH = 1_000;
/** Line of a member that is defined several times, so that its name and the number of arguments do not tell which is meant. */
export const AMBIGUOUS_LINE = 0;
/** Steps into an expression or type: longer ones are not followed. */
export const MAX_EXPRESSION_DEPTH = 20;
/** Files with a definition of a name that are read to find the one of a package or program. */
export const MAX_CANDIDATES = 50;
