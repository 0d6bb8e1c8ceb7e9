import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { CORE_WASM, GRAMMAR_WASM } from "./grammar-files.ts";
import type { GrammarSource } from "./languages.ts";
import { wasm } from "./wasm.ts";

/**
 * Grammars from files, compiled on first use.
 *
 * @param directory Folder that holds every wasm file by its own name (a packed CLI). Without it they are found in the
 *   installed packages.
 */
export function nodeGrammars(directory?: string): GrammarSource {
  const packages = createRequire(import.meta.url);
  const load = async (specifier: string): Promise<WebAssembly.Module> => {
    const file =
      directory === undefined
        ? packages.resolve(specifier)
        : join(directory, specifier.slice(specifier.lastIndexOf("/") + 1));
    return new wasm.Module(await readFile(file));
  };
  return { core: () => load(CORE_WASM), grammar: (name) => load(GRAMMAR_WASM[name]) };
}
