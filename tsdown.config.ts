import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { defineConfig, type UserConfig } from "tsdown";
import { CORE_WASM, GRAMMAR_WASM } from "./src/engines/parsing/grammar-files.ts";
import { writeClientTypes } from "./src/tooling/release/client-types.ts";
import { CLIENT_MANIFEST, packageManifest, packageReadme } from "./src/tooling/release/manifest.ts";
import { githubRepository } from "./src/tooling/release/repository.ts";

const OUTPUT = "dist/cli";
const CLIENT = `${OUTPUT}/client`;

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
  // The CommonJS form of jsonc-parser requires its parts in a way that no bundler can follow.
  inputOptions: { resolve: { mainFields: ["module", "main"] } },
} as const satisfies UserConfig;

const client = {
  outDir: CLIENT,
  platform: "neutral",
  target: "es2022",
  format: "esm",
  minify: true,
  sourcemap: false,
  clean: false,
  deps: { alwaysBundle: [/./], onlyBundle: false },
} as const satisfies UserConfig;

/**
 * The `codectx` package: the command, with the grammars as files beside it, and the client below `client/`. Everything is bundled:
 * there is no dependency to install. The repository's own package stays private; `npm pack ./dist/cli` makes the tarball.
 */
export default defineConfig(async () => {
  await rm(OUTPUT, { recursive: true, force: true });
  return [
    {
      ...common,
      entry: { codectx: "src/cli/codectx.ts" },
      clean: false,
      onSuccess: writePackage,
    },
    // A file of its own, with all that a thread needs.
    {
      ...common,
      entry: { "parse-worker": "src/cli/indexing/parse-worker.ts" },
      clean: false,
      outputOptions: { codeSplitting: false },
    },
    {
      ...client,
      entry: { index: "src/interface/client/index.ts" },
      dts: false,
      outExtensions: () => ({ js: ".js" }),
      onSuccess: () => writeFile(join(CLIENT, "package.json"), json(CLIENT_MANIFEST)),
    },
    {
      ...client,
      entry: { index: await writeClientTypes("dist/client-types") },
      dts: { dtsInput: true, emitDtsOnly: true },
    },
  ];
});

async function writePackage(): Promise<void> {
  const require = createRequire(import.meta.url);
  await mkdir(join(OUTPUT, "grammars"), { recursive: true });
  for (const specifier of [CORE_WASM, ...Object.values(GRAMMAR_WASM)]) {
    await cp(require.resolve(specifier), join(OUTPUT, "grammars", basename(specifier)));
  }
  const regex = join(dirname(require.resolve("rregex/package.json")), "lib", "rregex.wasm");
  await cp(regex, join(OUTPUT, "grammars", basename(regex)));
  await writeFile(join(OUTPUT, "package.json"), json(packageManifest(githubRepository())));
  await writeFile(join(OUTPUT, "README.md"), await packageReadme(githubRepository()));
  for (const file of ["CHANGELOG.md", "LICENSE", "THIRD_PARTY_NOTICES.md"]) await cp(file, join(OUTPUT, file));
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
