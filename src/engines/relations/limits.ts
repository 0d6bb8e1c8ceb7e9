/** Levels of a tree that are read: deeper expressions are generated. */
export const MAX_DEPTH = 1_000;
