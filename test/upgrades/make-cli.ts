/**
 * Makes small caches of the CLI as an earlier commit writes them: `node test/upgrades/make-cli.ts <commit>`.
 *
 * Checks the commit out into a temporary folder, installs its packages and runs its CLI against the stand-in of the CLI's tests: one
 * cache holds an index that was made here (with vectors, and an index of a commit), the other one that was pulled. A blob of the
 * commit is replaced (`git replace`) while it is indexed. Both caches, the repository, the configuration and what the service holds are
 * packed to `test/upgrades/cli/<commit>.tar.br`. `test/node/cli/upgrade.test.ts` goes on with them.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { brotliCompressSync } from "node:zlib";
import { PROJECT_ROOT } from "../../src/tooling/local/project.ts";
import { sampleFiles, Sandbox } from "../node/cli/support/run.ts";

/** What `expected.json` holds. */
export interface ExpectedCache {
  commit: string;
  gitSha: string;
  /** Where the repository was. */
  root: string;
  snapshots: [string, ReturnType<Sandbox["service"]["snapshots"]["get"]>][];
  /** By path of the storage, in base64. */
  objects: [string, string][];
}

const [commit] = process.argv.slice(2);
if (commit === undefined) throw new Error("usage: node test/upgrades/make-cli.ts <commit>");
const short = execFileSync("git", ["rev-parse", "--short", commit], { cwd: PROJECT_ROOT, encoding: "utf8" }).trim();
const checkout = mkdtempSync(path.join(os.tmpdir(), "cli-of-earlier-commit-"));
const sandbox = await Sandbox.create();
try {
  const archive = execFileSync("git", ["archive", short], { cwd: PROJECT_ROOT, maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", checkout], { input: archive });
  execFileSync("npm", ["ci", "--silent"], { cwd: checkout, stdio: "inherit" });
  const entry = path.join(checkout, "src/cli/codectx.ts");
  const run = async (cache: string, ...args: string[]): Promise<void> => {
    const env = { XDG_CACHE_HOME: sandbox.path(cache) };
    const { code, stdout, stderr } = await sandbox.run("app", [...args, "--json"], { entry, env });
    // 4: nothing was found, since versions after 4 of the index do not see replaced blobs.
    if (code !== 0 && !(code === 4 && args.includes("replaced")))
      throw new Error(`codectx ${args.join(" ")}: ${code} ${stdout} ${stderr}`);
  };

  sandbox.repository("app", sampleFiles(3));
  rmSync(sandbox.path("app/.git/hooks"), { recursive: true });
  await run("cache", "publish");
  await run("pulled", "pull");
  await run("pulled", "symbol", "double1");
  // Replaced after the work tree was indexed, so that its contents are in the cache under their own ids, and another under a wrong one.
  sandbox.write("other.ts", "export function replaced(): void {}\n");
  sandbox.write("app/src/added.ts", "export function addedLater(): void {}\n");
  sandbox.commit("app");
  const other = sandbox.git("app", "hash-object", "-w", "../other.ts");
  sandbox.git("app", "replace", sandbox.git("app", "rev-parse", "HEAD:src/added.ts"), other);
  await run("cache", "search", "--ref", "HEAD", "replaced");
  await run("cache", "index", "--local");
  await run("cache", "search", "double1");

  const expected: ExpectedCache = {
    commit: short,
    gitSha: sandbox.git("app", "rev-parse", "HEAD"),
    root: sandbox.path("app"),
    snapshots: [...sandbox.service.snapshots],
    objects: [...sandbox.service.objects].map(([name, bytes]) => [name, bytes.toString("base64")]),
  };
  writeFileSync(sandbox.path("expected.json"), JSON.stringify(expected));
  const names = ["app", "cache", "pulled", "expected.json"];
  const tar = execFileSync("tar", ["-c", "--sort=name", "--owner=0", "--group=0", "-C", sandbox.root, ...names], {
    maxBuffer: 1 << 30,
  });
  const file = path.join(PROJECT_ROOT, "test", "upgrades", "cli", `${short}.tar.br`);
  mkdirSync(path.dirname(file), { recursive: true });
  const packed = brotliCompressSync(tar);
  writeFileSync(file, packed);
  console.log(`${path.relative(PROJECT_ROOT, file)}: ${tar.length} bytes, packed ${packed.length}`);
} finally {
  sandbox.remove();
  rmSync(checkout, { recursive: true, force: true });
}
