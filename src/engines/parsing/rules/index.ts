import type { GrammarName } from "../languages.ts";
import { bashRules } from "./bash.ts";
import { cppRules, cRules } from "./c.ts";
import { csharpRules } from "./csharp.ts";
import { dartRules } from "./dart.ts";
import { elixirRules } from "./elixir.ts";
import { goRules } from "./go.ts";
import { javaRules } from "./java.ts";
import { javascriptRules, typescriptRules } from "./javascript.ts";
import { kotlinRules } from "./kotlin.ts";
import { luaRules } from "./lua.ts";
import { phpRules } from "./php.ts";
import { pythonRules } from "./python.ts";
import { rubyRules } from "./ruby.ts";
import type { GrammarRules } from "./rule.ts";
import { rustRules } from "./rust.ts";
import { scalaRules } from "./scala.ts";
import { swiftRules } from "./swift.ts";
import { zigRules } from "./zig.ts";

/** Rules for reading symbols, by grammar. */
export const GRAMMAR_RULES: Record<GrammarName, GrammarRules> = {
  typescript: typescriptRules,
  tsx: typescriptRules,
  javascript: javascriptRules,
  python: pythonRules,
  go: goRules,
  rust: rustRules,
  java: javaRules,
  c: cRules,
  cpp: cppRules,
  csharp: csharpRules,
  ruby: rubyRules,
  php: phpRules,
  kotlin: kotlinRules,
  swift: swiftRules,
  scala: scalaRules,
  bash: bashRules,
  lua: luaRules,
  elixir: elixirRules,
  zig: zigRules,
  dart: dartRules,
};
