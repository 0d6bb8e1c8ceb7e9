import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { defineConfig, type UserConfig } from "tsdown";
import { CORE_WASM, GRAMMAR_WASM } from "./src/parsing/grammar-files.ts";

const OUTPUT = "dist/cli";

const common = {
  outDir: OUTPUT,
  platform: "node",
  target: "node22",
  // Not ESM: Node loads a graph of ES modules at half the speed, and their imports of its own modules at a fraction of it.
  format: "cjs",
  outExtensions: () => ({ js: ".js" }),
  dts: false,
  minify: true,
  sourcemap: false,
  deps: { alwaysBundle: [/./], onlyBundle: false },
} as const satisfies UserConfig;

/**
 * The `codectx` package: everything bundled, the grammars as files beside it, no dependency to install. The repository's own
 * package stays private; `npm pack ./dist/cli` makes the tarball.
 */
export default defineConfig([
  {
    ...common,
    entry: { codectx: "src/cli/codectx.ts" },
    clean: true,
    onSuccess: writePackage,
  },
  // A file of its own, with all that a thread needs.
  {
    ...common,
    entry: { "parse-worker": "src/cli/index/parse-worker.ts" },
    clean: false,
    outputOptions: { codeSplitting: false },
  },
]);

async function writePackage(): Promise<void> {
  const require = createRequire(import.meta.url);
  await mkdir(join(OUTPUT, "grammars"), { recursive: true });
  for (const specifier of [CORE_WASM, ...Object.values(GRAMMAR_WASM)]) {
    await cp(require.resolve(specifier), join(OUTPUT, "grammars", basename(specifier)));
  }
  const { version, license } = JSON.parse(await readFile("package.json", "utf8")) as {
    version: string;
    license: string;
  };
  const manifest = {
    name: "codectx",
    version,
    description: "Command line of Code Context: local index, shared snapshots, hosted indexing.",
    license,
    type: "commonjs",
    bin: { codectx: "codectx.js" },
    files: ["*.js", "grammars", "README.md", "LICENSE", "THIRD_PARTY_NOTICES.md"],
    engines: { node: ">=22.16" },
  };
  await writeFile(join(OUTPUT, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  await cp("docs/cli.md", join(OUTPUT, "README.md"));
  for (const file of ["LICENSE", "THIRD_PARTY_NOTICES.md"]) await cp(file, join(OUTPUT, file));
}
