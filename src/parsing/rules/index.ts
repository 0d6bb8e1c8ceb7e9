import type { GrammarName } from "../languages.ts";
import { goRules } from "./go.ts";
import { javascriptRules, typescriptRules } from "./javascript.ts";
import { pythonRules } from "./python.ts";
import type { GrammarRules } from "./rule.ts";

/** How symbols are read, by grammar. */
export const GRAMMAR_RULES: Partial<Record<GrammarName, GrammarRules>> = {
  typescript: typescriptRules,
  tsx: typescriptRules,
  javascript: javascriptRules,
  python: pythonRules,
  go: goRules,
};
