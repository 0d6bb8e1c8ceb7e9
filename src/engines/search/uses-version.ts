/**
 * Version of the records of uses (`engines/relations`). Increment when the rules of a language give other uses of the same text, or their record changes. Part of the version of search
 * segments, which hold the records: those of another version are made again from the stored texts.
 */
export const USES_VERSION = 32;
