/**
 * Global set-up of the projects that run the CLI as a process: bundles the command as it is published, unless its sources are those of the
 * last bundle. A process of the bundle takes a third less CPU time than one of the sources, whose types Node strips at each start.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { PROJECT_ROOT } from "../../src/tooling/local/project.ts";
import { commandBundles, copyGrammars } from "../../src/tooling/release/command-bundle.ts";

const FOLDER = path.join(PROJECT_ROOT, "dist", "codectx");
const SOURCES = ["package.json", "package-lock.json", "src/tooling/release/command-bundle.ts"];
const SOURCE_FOLDERS = "src/{cli,contract,engines,interface,lib}/**/*";

export default async function setup(): Promise<void> {
  const bundle = path.join(FOLDER, hashOfSources());
  if (!existsSync(bundle)) await build(bundle);
  // Test workers are started with it.
  process.env["CODECTX_ENTRY"] = path.join(bundle, "codectx.js");
}

function hashOfSources(): string {
  const hash = createHash("sha256");
  const sources = globSync(SOURCE_FOLDERS, { cwd: PROJECT_ROOT, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const files = sources.map((entry) => path.join(entry.parentPath, entry.name)).toSorted();
  for (const file of [...SOURCES.map((name) => path.join(PROJECT_ROOT, name)), ...files]) {
    hash.update(`${path.relative(PROJECT_ROOT, file)}\0`).update(readFileSync(file));
  }
  return hash.digest("hex").slice(0, 16);
}

/** Builds in a folder beside it, so that another run of tests sees a whole bundle or none, and removes those of earlier sources. */
async function build(bundle: string): Promise<void> {
  const temporary = `${bundle}-${process.pid}`;
  mkdirSync(temporary, { recursive: true });
  const outdated = globSync("*", { cwd: FOLDER }).filter((name) => !name.includes("-"));
  const { build: bundleWith } = await import("tsdown");
  for (const options of commandBundles(temporary)) {
    await bundleWith({ ...options, config: false, cwd: PROJECT_ROOT, logLevel: "error" });
  }
  copyGrammars(temporary);
  // The repository's own package.json would make ES modules of the files.
  writeFileSync(path.join(temporary, "package.json"), '{ "type": "commonjs" }\n');
  try {
    renameSync(temporary, bundle);
  } catch (error) {
    if (!existsSync(bundle)) throw error;
    rmSync(temporary, { recursive: true, force: true });
  }
  for (const name of outdated) rmSync(path.join(FOLDER, name), { recursive: true, force: true });
}
