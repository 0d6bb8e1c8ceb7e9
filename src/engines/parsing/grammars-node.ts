import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { CORE_WASM, GRAMMAR_WASM } from "./grammar-files.ts";
import type { GrammarSource } from "./languages.ts";
import { wasm } from "./wasm.ts";

/** Flags that keep V8 from optimizing frequently run code with its optimizing compiler. */
const BASELINE_ONLY = ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"];

let core: WebAssembly.Module | undefined;

/**
 * The core, compiled with optimization; everything after it in the whole process is compiled without. A grammar's lexer is a single
 * function of up to several hundred KiB, for which V8's optimizing compiler takes gigabytes and goes on after the work is done;
 * the core's functions are small, and a fifth faster optimized. Indexing Alamofire takes 260 MB instead of 2,970 MB and exits
 * at once instead of after 4.6 s; hono 200 MB instead of 690; git/git 325 MB instead of 720, in 4 % more CPU time (baseline
 * code for the core as well: 27 % more).
 *
 * It is compiled once in a process, because the flags hold for all threads: a thread that compiled it later would get baseline code.
 *
 * @param directory as for {@link nodeGrammars}
 */
export function compiledCore(directory?: string): WebAssembly.Module {
  if (core) return core;
  const bytes = readFileSync(pathOf(CORE_WASM, directory));
  // A function's counters are set up when it is first compiled, by default at its first call.
  setFlagsFromString("--no-wasm-lazy-compilation");
  core = new wasm.Module(bytes);
  for (const flag of ["--wasm-lazy-compilation", ...BASELINE_ONLY]) setFlagsFromString(flag);
  return core;
}

/**
 * Grammars from files, compiled on first use.
 *
 * @param directory Folder that holds every wasm file by its own name (a packed CLI). Without it they are found in the
 *   installed packages.
 * @param given The core, in a worker thread: that of the main thread.
 */
export function nodeGrammars(directory?: string, given?: WebAssembly.Module): GrammarSource {
  return {
    core: () => given ?? compiledCore(directory),
    grammar: async (name) => new wasm.Module(await readFile(pathOf(GRAMMAR_WASM[name], directory))),
  };
}

function pathOf(specifier: string, directory: string | undefined): string {
  return directory === undefined
    ? createRequire(import.meta.url).resolve(specifier)
    : join(directory, specifier.slice(specifier.lastIndexOf("/") + 1));
}
