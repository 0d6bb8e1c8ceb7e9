import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { FileBuilder } from "./file-builder.ts";
import type { LanguageWithUses } from "./languages.ts";
import { readPython } from "./python.ts";
import type { FileUses } from "./types.ts";
import { readTypeScript } from "./typescript.ts";

const READERS: Readonly<Record<LanguageWithUses, (root: SyntaxNode, file: FileBuilder) => void>> = {
  typescript: readTypeScript,
  javascript: readTypeScript,
  python: readPython,
};

/** The uses of a file from its tree. */
export function readUses(root: SyntaxNode, language: LanguageWithUses): FileUses {
  const file = new FileBuilder();
  READERS[language](root, file);
  return file.finish();
}
