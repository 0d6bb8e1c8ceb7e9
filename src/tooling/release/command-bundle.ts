/** How the `codectx` command is bundled: with everything it imports, so that there is no dependency to install. */
import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { InlineConfig } from "tsdown";
import { CORE_WASM, GRAMMAR_WASM } from "../../engines/parsing/grammar-files.ts";

/** Modules that so many of the parts share which are loaded on demand are in one file. */
const MANY_COMMANDS = 20;

/** Node's own modules that take 4 to 14 ms to load, as bundles import them. Each run uses few of them, many none. */
const LARGE_MODULES =
  /require\(["'`]node:(?:child_process|crypto|http|https|stream|v8|worker_threads|zlib)["'`]\)(?=[,;\n])/g;

/** Loads {@link LARGE_MODULES} when something of them is used first, not where they are imported. */
const lazyModules = {
  name: "lazy-modules",
  renderChunk: (code: string): string =>
    code.replaceAll(LARGE_MODULES, (load: string) => `new Proxy({}, { get: (_, name) => ${load}[name] })`),
};

/** tsdown's configurations of the command and of its threads. Neither empties `outDir`. */
export function commandBundles(outDir: string) {
  const common = {
    outDir,
    clean: false,
    platform: "node",
    target: "node22",
    // Not ESM: Node loads a graph of ES modules at half the speed, and their imports of its own modules at a fraction of it.
    format: "cjs",
    outExtensions: () => ({ js: ".js" }),
    dts: false,
    minify: true,
    sourcemap: false,
    deps: { alwaysBundle: [/./], onlyBundle: false },
    // The CommonJS form of jsonc-parser requires its parts in a way that no bundler can follow.
    inputOptions: { resolve: { mainFields: ["module", "main"] } },
    plugins: [lazyModules],
  } as const satisfies InlineConfig;
  return [
    {
      ...common,
      entry: { codectx: "src/cli/codectx.ts" },
      // What most commands load is one file: each file costs half a millisecond.
      outputOptions: { codeSplitting: { groups: [{ name: "shared", minShareCount: MANY_COMMANDS }] } },
    },
    // Files of their own, each with all that a thread needs.
    threadBundle(common, "inspect-worker", "src/cli/exact/inspect-worker.ts"),
    threadBundle(common, "parse-worker", "src/cli/indexing/parse-worker.ts"),
  ] as const satisfies InlineConfig[];
}

const threadBundle = <Common extends InlineConfig>(common: Common, name: string, source: string) => ({
  ...common,
  entry: { [name]: source },
  outputOptions: { codeSplitting: false as const },
});

/** Copies the WebAssembly modules that the command reads into `grammars` beside it. */
export function copyGrammars(outDir: string): void {
  const require = createRequire(import.meta.url);
  const folder = path.join(outDir, "grammars");
  mkdirSync(folder, { recursive: true });
  const regex = path.join(path.dirname(require.resolve("rregex/package.json")), "lib", "rregex.wasm");
  for (const file of [CORE_WASM, ...Object.values(GRAMMAR_WASM)].map((name) => require.resolve(name))) {
    copyFileSync(file, path.join(folder, path.basename(file)));
  }
  copyFileSync(regex, path.join(folder, path.basename(regex)));
}
