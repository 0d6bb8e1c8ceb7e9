import type { GrammarName } from "./languages.ts";

/** The parser's core. */
export const CORE_WASM = "web-tree-sitter/web-tree-sitter.wasm";

/** Module specifier of each grammar's wasm. Base names are unique, so that they can be packed into one folder. */
export const GRAMMAR_WASM: Record<GrammarName, string> = {
  typescript: "tree-sitter-typescript/tree-sitter-typescript.wasm",
  tsx: "tree-sitter-typescript/tree-sitter-tsx.wasm",
  javascript: "tree-sitter-javascript/tree-sitter-javascript.wasm",
  python: "tree-sitter-python/tree-sitter-python.wasm",
  go: "tree-sitter-go/tree-sitter-go.wasm",
  rust: "tree-sitter-rust/tree-sitter-rust.wasm",
  java: "tree-sitter-java/tree-sitter-java.wasm",
  c: "tree-sitter-c/tree-sitter-c.wasm",
  cpp: "tree-sitter-cpp/tree-sitter-cpp.wasm",
  csharp: "tree-sitter-c-sharp/tree-sitter-c_sharp.wasm",
  ruby: "tree-sitter-ruby/tree-sitter-ruby.wasm",
  php: "tree-sitter-php/tree-sitter-php.wasm",
  kotlin: "@tree-sitter-grammars/tree-sitter-kotlin/tree-sitter-kotlin.wasm",
  swift: "@repomix/tree-sitter-wasms/out/tree-sitter-swift.wasm",
  scala: "tree-sitter-scala/tree-sitter-scala.wasm",
  bash: "tree-sitter-bash/tree-sitter-bash.wasm",
  lua: "@tree-sitter-grammars/tree-sitter-lua/tree-sitter-lua.wasm",
  elixir: "tree-sitter-elixir/tree-sitter-elixir.wasm",
  zig: "@tree-sitter-grammars/tree-sitter-zig/tree-sitter-zig.wasm",
  dart: "@repomix/tree-sitter-wasms/out/tree-sitter-dart.wasm",
};
