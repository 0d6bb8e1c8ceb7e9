import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { wasm } from "../../engines/parsing/wasm.ts";

const REGEX_WASM = "rregex.wasm";

/** The WebAssembly of the regular expressions: beside the packed command, else in the installed package. */
export function regexModule(): Promise<WebAssembly.Module> {
  const packed = fileURLToPath(new URL(`./grammars/${REGEX_WASM}`, import.meta.url));
  const file = existsSync(packed) ? packed : join(installed(), "lib", REGEX_WASM);
  return Promise.resolve(new wasm.Module(readFileSync(file)));
}

function installed(): string {
  return dirname(createRequire(import.meta.url).resolve("rregex/package.json"));
}
