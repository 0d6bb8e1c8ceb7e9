import type { UsesReader } from "../parsing/parser.ts";
import { readC } from "./c.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { readCpp } from "./cpp.ts";
import { readCsharp } from "./csharp.ts";
import { FileBuilder } from "./file-builder.ts";
import { readGo } from "./go.ts";
import { readJava } from "./java.ts";
import { readKotlin } from "./kotlin.ts";
import { hasUses, type LanguageWithUses } from "./languages.ts";
import { namedUsesOf } from "./named-uses.ts";
import { readPhp } from "./php.ts";
import { readPython } from "./python.ts";
import { encodeUses } from "./record.ts";
import { readRuby } from "./ruby.ts";
import { readRust } from "./rust.ts";
import { readTypeScript } from "./typescript.ts";

const READERS: Readonly<Record<LanguageWithUses, (root: SyntaxNode, file: FileBuilder) => void>> = {
  typescript: readTypeScript,
  tsx: readTypeScript,
  vue: readTypeScript,
  svelte: readTypeScript,
  javascript: readTypeScript,
  python: readPython,
  go: readGo,
  java: readJava,
  c: readC,
  rust: readRust,
  cpp: readCpp,
  php: readPhp,
  csharp: readCsharp,
  ruby: readRuby,
  kotlin: readKotlin,
  swift: namedUsesOf("swift"),
  scala: namedUsesOf("scala"),
  lua: namedUsesOf("lua"),
  bash: namedUsesOf("bash"),
  elixir: namedUsesOf("elixir"),
  zig: namedUsesOf("zig"),
  dart: namedUsesOf("dart"),
};

/** Reads the uses of a file for its record. */
export const readUses: UsesReader = (root, language) => {
  if (!hasUses(language)) return undefined;
  const file = new FileBuilder();
  READERS[language](root, file);
  const uses = file.finish();
  return (isWithheld) => encodeUses(uses, isWithheld);
};
