import core from "web-tree-sitter/web-tree-sitter.wasm";
import dart from "@repomix/tree-sitter-wasms/out/tree-sitter-dart.wasm";
import swift from "@repomix/tree-sitter-wasms/out/tree-sitter-swift.wasm";
import kotlin from "@tree-sitter-grammars/tree-sitter-kotlin/tree-sitter-kotlin.wasm";
import lua from "@tree-sitter-grammars/tree-sitter-lua/tree-sitter-lua.wasm";
import zig from "@tree-sitter-grammars/tree-sitter-zig/tree-sitter-zig.wasm";
import bash from "tree-sitter-bash/tree-sitter-bash.wasm";
import c from "tree-sitter-c/tree-sitter-c.wasm";
import csharp from "tree-sitter-c-sharp/tree-sitter-c_sharp.wasm";
import cpp from "tree-sitter-cpp/tree-sitter-cpp.wasm";
import elixir from "tree-sitter-elixir/tree-sitter-elixir.wasm";
import go from "tree-sitter-go/tree-sitter-go.wasm";
import java from "tree-sitter-java/tree-sitter-java.wasm";
import javascript from "tree-sitter-javascript/tree-sitter-javascript.wasm";
import php from "tree-sitter-php/tree-sitter-php.wasm";
import python from "tree-sitter-python/tree-sitter-python.wasm";
import ruby from "tree-sitter-ruby/tree-sitter-ruby.wasm";
import rust from "tree-sitter-rust/tree-sitter-rust.wasm";
import scala from "tree-sitter-scala/tree-sitter-scala.wasm";
import tsx from "tree-sitter-typescript/tree-sitter-tsx.wasm";
import typescript from "tree-sitter-typescript/tree-sitter-typescript.wasm";
import type { GrammarName, GrammarSource } from "./languages.ts";

const GRAMMARS: Record<GrammarName, WebAssembly.Module> = {
  typescript,
  tsx,
  javascript,
  python,
  go,
  rust,
  java,
  c,
  cpp,
  csharp,
  ruby,
  php,
  kotlin,
  swift,
  scala,
  bash,
  lua,
  elixir,
  zig,
  dart,
};

/** Compiled grammars from the Worker's bundle. Needs a `CompiledWasm` rule for `**\/*.wasm`. */
export function workerGrammars(): GrammarSource {
  return { core: () => core, grammar: (name) => GRAMMARS[name] };
}
