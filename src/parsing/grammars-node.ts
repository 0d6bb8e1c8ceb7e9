import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { CORE_WASM, GRAMMAR_WASM } from "./grammar-files.ts";
import type { GrammarSource } from "./languages.ts";
import { wasm } from "./wasm.ts";

/** Flags that keep V8 from optimizing frequently run code with its optimizing compiler. */
const BASELINE_ONLY = ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"];

/**
 * Compiles the core with optimization, and everything after it in the whole process without. A grammar's lexer is a single
 * function of up to several hundred KiB, for which V8's optimizing compiler takes gigabytes and goes on after the work is done;
 * the core's functions are small, and a fifth faster optimized. Indexing Alamofire takes 260 MB instead of 2,970 MB and exits
 * at once instead of after 4.6 s; hono 200 MB instead of 690; git/git 325 MB instead of 720, in 4 % more CPU time (baseline
 * code for the core as well: 27 % more).
 */
function compileCore(bytes: Uint8Array): WebAssembly.Module {
  // A function's counters are set up when it is first compiled, by default at its first call.
  setFlagsFromString("--no-wasm-lazy-compilation");
  const module = new wasm.Module(bytes);
  for (const flag of ["--wasm-lazy-compilation", ...BASELINE_ONLY]) setFlagsFromString(flag);
  return module;
}

/**
 * Grammars from files, compiled on first use.
 *
 * @param directory Folder that holds every wasm file by its own name (a packed CLI). Without it they are found in the
 *   installed packages.
 */
export function nodeGrammars(directory?: string): GrammarSource {
  const packages = createRequire(import.meta.url);
  const read = (specifier: string): Promise<Uint8Array> =>
    readFile(
      directory === undefined
        ? packages.resolve(specifier)
        : join(directory, specifier.slice(specifier.lastIndexOf("/") + 1)),
    );
  return {
    core: async () => compileCore(await read(CORE_WASM)),
    grammar: async (name) => new wasm.Module(await read(GRAMMAR_WASM[name])),
  };
}
