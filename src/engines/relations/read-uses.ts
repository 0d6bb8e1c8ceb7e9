import type { LanguageId } from "../parsing/languages.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { FileBuilder } from "./file-builder.ts";
import { readPython } from "./python.ts";
import type { FileUses } from "./types.ts";
import { readTypeScript } from "./typescript.ts";

const READERS: Partial<Record<LanguageId, (root: SyntaxNode, file: FileBuilder) => void>> = {
  typescript: readTypeScript,
  javascript: readTypeScript,
  python: readPython,
};

/** Whether uses are read of files in the language. */
export function hasUses(language: string): language is LanguageId {
  return Object.hasOwn(READERS, language);
}

/** The uses of a file from its tree; those of a language without rules are none. */
export function readUses(root: SyntaxNode, language: LanguageId): FileUses {
  const file = new FileBuilder();
  READERS[language]?.(root, file);
  return file.finish();
}
