/** Languages without rules of scope: their uses are known by name. */
const NAMED = ["kotlin", "swift", "scala", "lua", "bash", "elixir", "zig", "dart"] as const;
export type NamedLanguage = (typeof NAMED)[number];

/** Languages whose uses are read. Apart from the readers, so that questions about stored uses do not load them. */
export const LANGUAGES_WITH_USES = [
  "typescript",
  "tsx",
  "vue",
  "svelte",
  "javascript",
  "python",
  "go",
  "java",
  "c",
  "rust",
  "cpp",
  "php",
  "csharp",
  "ruby",
  ...NAMED,
] as const;
export type LanguageWithUses = (typeof LANGUAGES_WITH_USES)[number];

/** Whether uses are read of files in the language. */
export function hasUses(language: string): language is LanguageWithUses {
  return (LANGUAGES_WITH_USES as readonly string[]).includes(language);
}

/**
 * Whether the rules of a language lead to one definition for sure. Those of C++ do not: overloads, templates, macros that open namespaces, and
 * which files are built together are not followed. Languages whose uses are known by name have no rules.
 */
export function hasSureRules(language: string): boolean {
  return hasUses(language) && language !== "cpp" && !(NAMED as readonly string[]).includes(language);
}
