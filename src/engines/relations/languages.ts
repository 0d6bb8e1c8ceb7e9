/** Languages whose uses are read. Apart from the readers, so that questions about stored uses do not load them. */
export const LANGUAGES_WITH_USES = ["typescript", "javascript", "python", "go", "java", "c", "rust"] as const;
export type LanguageWithUses = (typeof LANGUAGES_WITH_USES)[number];

/** Whether uses are read of files in the language. */
export function hasUses(language: string): language is LanguageWithUses {
  return (LANGUAGES_WITH_USES as readonly string[]).includes(language);
}
