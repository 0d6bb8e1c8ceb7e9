/**
 * Why a file was not searched. Where one of `GAPS` occurs the answer is not complete: text that people wrote may be missing. The others
 * hold no such text, or are of another repository.
 */
export const GAPS = ["too_large", "excluded", "not_stored", "unreadable", "damaged", "budget"] as const;
const NOT_TEXT = ["binary", "lfs", "symlink", "submodule", "special_file"] as const;
export type NotSearched = (typeof GAPS)[number] | (typeof NOT_TEXT)[number];
