import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineConfig, type UserConfig } from "tsdown";
import { writeClientTypes } from "./src/tooling/release/client-types.ts";
import { commandBundles, copyGrammars } from "./src/tooling/release/command-bundle.ts";
import { CLIENT_MANIFEST, packageManifest, packageReadme } from "./src/tooling/release/manifest.ts";
import { githubRepository } from "./src/tooling/release/repository.ts";

const OUTPUT = "dist/cli";
const CLIENT = `${OUTPUT}/client`;

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
  const [command, ...threads] = commandBundles(OUTPUT);
  return [
    { ...command, onSuccess: writePackage },
    ...threads,
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
  copyGrammars(OUTPUT);
  await writeFile(join(OUTPUT, "package.json"), json(packageManifest(githubRepository())));
  await writeFile(join(OUTPUT, "README.md"), await packageReadme(githubRepository()));
  for (const file of ["CHANGELOG.md", "LICENSE", "THIRD_PARTY_NOTICES.md"]) await cp(file, join(OUTPUT, file));
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
