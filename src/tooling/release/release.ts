/** `npm run release [-- [--dry-run | --check] [VERSION]]`: builds and checks the package, writes the changelog, commits and tags. */
import { execFile, spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs, promisify } from "node:util";
import { PROJECT_ROOT } from "../local/project.ts";
import { releaseChangelog, releaseNotes } from "./changelog.ts";
import { OperatorError } from "../errors.ts";
import { projectManifest, serverEntry } from "./manifest.ts";
import { packageProblems, packPackage } from "./package.ts";
import { githubRepository } from "./repository.ts";
import { compareVersions, VERSION_FILES, writeVersion } from "./version.ts";

const USAGE = `Usage: npm run release [-- [--dry-run | --check] [VERSION]]

Builds the codectx package, checks it, writes the changelog's section, commits and tags. Pushing the tag publishes.

  VERSION     1.2.3 or 1.2.3-beta.1; default: that of package.json, if it is not tagged yet
  --dry-run   does everything but the commit and the tag, and leaves the work tree as it is
  --check     builds and checks a tagged version as it stands, for the workflow that publishes it`;

/** What is made: the tarball, the bill of materials and the entry for the MCP registry. */
const OUTPUT = path.join(PROJECT_ROOT, "dist", "release");
const CHANGED_FILES = ["CHANGELOG.md", ...VERSION_FILES];

/** Checkers of packages. They come over the network, at these versions, when a release is made. */
const PUBLINT = "publint@0.3.25";
const ATTW = "@arethetypeswrong/cli@0.18.5";
/** Node's `require` loads ES modules in every version that the package runs in (22.12 and later). */
const ATTW_IGNORED = "cjs-resolves-to-esm";

try {
  await main();
} catch (error) {
  console.error(`error: ${error instanceof OperatorError ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help) return console.log(USAGE);
  const current = projectManifest().version;
  if (values.check) return checkTagged(current);
  const version = positionals[0] ?? current;
  await checkState(version, current);
  const date = new Date().toISOString().slice(0, 10);
  const changelog = releaseChangelog(await readFile(path.join(PROJECT_ROOT, "CHANGELOG.md"), "utf8"), version, date);
  try {
    await writeFile(path.join(PROJECT_ROOT, "CHANGELOG.md"), changelog.text);
    if (version !== current) await writeVersion(version);
    await buildAndCheck(version);
  } catch (error) {
    await restore();
    throw error;
  }
  if (values["dry-run"]) {
    await restore();
    return console.log(`\nDry run: ${version} could be released. Nothing was committed or tagged.`);
  }
  await git("commit", "--quiet", "--message", `Release ${version}`, "--", ...CHANGED_FILES);
  await git(
    "tag",
    "--annotate",
    `v${version}`,
    "--cleanup",
    "verbatim",
    "--message",
    `${version}\n\n${changelog.notes}`,
  );
  console.log(`\nv${version} is tagged. "git push --follow-tags" publishes it through .github/workflows/release.yml.`);
}

function readArguments() {
  try {
    const options = {
      "dry-run": { type: "boolean" },
      check: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (positionals.length > 1) throw new OperatorError(`one version at most, not "${positionals.join(" ")}"`);
    return { values, positionals };
  } catch (error) {
    throw new OperatorError(error instanceof Error ? error.message : String(error));
  }
}

async function checkTagged(version: string): Promise<void> {
  const text = await readFile(path.join(PROJECT_ROOT, "CHANGELOG.md"), "utf8");
  const notes = releaseNotes(text, version);
  await buildAndCheck(version);
  await writeFile(path.join(OUTPUT, "notes.md"), `${notes}\n`);
}

/** Throws `OperatorError` unless the work tree is clean, the tag is free and the version is not behind the current one. */
async function checkState(version: string, current: string): Promise<void> {
  if (compareVersions(version, current) < 0)
    throw new OperatorError(`${version} comes before ${current}, the current version`);
  if ((await git("tag", "--list", `v${version}`)) !== "") {
    throw new OperatorError(`v${version} is tagged already: name the next version, as in npm run release -- 1.2.3`);
  }
  const changes = await git("status", "--porcelain");
  if (changes !== "") throw new OperatorError(`the work tree has changes: commit or stash them first\n${changes}`);
}

async function buildAndCheck(version: string): Promise<void> {
  await rm(OUTPUT, { recursive: true, force: true });
  await mkdir(OUTPUT, { recursive: true });
  await step("notices", "npm", ["run", "--silent", "notices", "--", "--check"]);
  await step("build", "npm", ["run", "--silent", "build:cli", "--", "--logLevel", "error"]);
  const { packed, tarball } = await packPackage(OUTPUT);
  const problems = await packageProblems(packed);
  if (problems.length > 0) throw new OperatorError(`the package has problems:\n  ${problems.join("\n  ")}`);
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(
    `${packed.filename}: ${packed.files.length} files, ${megabytes(packed.size)}, ${megabytes(packed.unpackedSize)} unpacked`,
  );
  await step("publint", "npx", ["--yes", PUBLINT, "run", tarball, "--strict"]);
  await step("types", "npx", ["--yes", ATTW, tarball, "--quiet", "--ignore-rules", ATTW_IGNORED]);
  await step("consumers", "npx", ["vitest", "run", "--config", "test/release/vitest.config.ts"]);
  const { stdout } = await promisify(execFile)(
    "npm",
    ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--omit", "dev", "--omit", "optional"],
    { cwd: PROJECT_ROOT, maxBuffer: 50_000_000 },
  );
  await writeFile(path.join(OUTPUT, `codectx-${version}.cdx.json`), stdout);
  const repository = githubRepository();
  if (repository === undefined) {
    console.log(
      "no remote origin on GitHub: package.json has no repository and no mcpName, and there is no server.json",
    );
  } else {
    await writeFile(path.join(OUTPUT, "server.json"), `${JSON.stringify(serverEntry(repository), undefined, 2)}\n`);
  }
}

/** Runs a command with its output on the terminal. */
async function step(name: string, command: string, args: string[]): Promise<void> {
  console.log(`== ${name}`);
  const child = spawn(command, args, { cwd: PROJECT_ROOT, stdio: "inherit" });
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  if (code !== 0) throw new OperatorError(`${name} failed`);
}

/** Takes back what this run wrote; the work tree was clean before. */
async function restore(): Promise<void> {
  await git("restore", "--source=HEAD", "--", ...CHANGED_FILES);
}

async function git(...args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)("git", args, { cwd: PROJECT_ROOT })).stdout.trim();
  } catch (error) {
    const reason = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
    throw new OperatorError(`git ${args[0] ?? ""}: ${reason}`);
  }
}
