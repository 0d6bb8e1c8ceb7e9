import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { defineConfig } from "tsdown";
import { CORE_WASM, GRAMMAR_WASM } from "./src/parsing/grammar-files.ts";

const OUTPUT = "dist/cli";

/**
 * The `codectx` package: everything bundled, the grammars as files beside it, no dependency to install. The repository's own
 * package stays private; `npm pack ./dist/cli` makes the tarball.
 */
export default defineConfig({
  entry: { codectx: "src/cli/codectx.ts", "parse-worker": "src/cli/index/parse-worker.ts" },
  outDir: OUTPUT,
  platform: "node",
  target: "node22",
  format: "esm",
  fixedExtension: false,
  dts: false,
  minify: true,
  sourcemap: false,
  clean: true,
  deps: { alwaysBundle: [/./] },
  onSuccess: writePackage,
});

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
    type: "module",
    bin: { codectx: "codectx.js" },
    files: ["*.js", "grammars", "README.md", "LICENSE"],
    engines: { node: ">=22.16" },
  };
  await writeFile(join(OUTPUT, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  await cp("docs/cli.md", join(OUTPUT, "README.md"));
  await cp("LICENSE", join(OUTPUT, "LICENSE")).catch(() => undefined);
}
