import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { listWorkTreeFiles } from "../../../src/cli/git/git.ts";
import { listWithMemory } from "../../../src/cli/git/kept-listing.ts";

/** What was changed before has settled after this time. */
const SETTLED_MS = 110;

let base: string;
let root: string;
let env: Record<string, string>;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "codectx-changes-")));
  env = { HOME: join(base, "home"), XDG_CONFIG_HOME: join(base, "home/.config") };
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(base, { recursive: true, force: true }));

function git(...args: string[]): void {
  const own = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "advice.addEmbeddedRepo=false"];
  try {
    execFileSync("git", [...own, ...args], { cwd: root, stdio: "ignore" });
  } catch {
    // For example, there is nothing to commit.
  }
}

function start(): void {
  root = mkdtempSync(join(base, "tree-"));
  rmSync(join(base, "cache"), { recursive: true, force: true });
  git("init", "-q", "-b", "main");
  writeFileSync(join(root, ".gitignore"), "*.log\nbuild/\n");
  for (const file of ["a.ts", "src/b.ts", "src/deep/c.ts", "lib/d.ts", "build/out.ts"]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "");
  }
  git("add", "-A");
  git("commit", "-qm", "one");
  git("branch", "other");
}

function list(): Promise<readonly string[]> {
  const gitDir = join(root, ".git");
  const tree = { root, gitDir, commonDir: gitDir, head: undefined };
  return listWithMemory({ ...tree, directory: join(base, "cache"), identity: "local/x" }, env).then((l) => l.paths());
}

const FOLDERS = ["", "src", "src/deep", "lib", "lib/more/x", "build", "new"];
const NAMES = ["a.ts", "b.ts", "deep", "x.log", "build", "more", "ü.ts", ":x", "*.ts"];

const place = fc
  .tuple(fc.constantFrom(...FOLDERS), fc.constantFrom(...NAMES))
  .map(([folder, name]) => join(folder, name));
const step = fc.oneof(
  ...[place, place, place].map((places) => fc.record({ kind: fc.constant("write" as const), path: places })),
  fc.record({ kind: fc.constantFrom("link", "remove", "unlist", "add", "force", "repository"), path: place }),
  fc.record({
    kind: fc.constantFrom("remove", "unlist", "add", "repository"),
    path: fc.constantFrom(...FOLDERS.slice(1)),
  }),
  fc.record({
    kind: fc.constant("rules"),
    path: fc.constantFrom(".gitignore", "src/.gitignore", "lib/more/.gitignore"),
  }),
  fc.record({
    kind: fc.constantFrom("commit", "add-all", "switch", "settle", "rename"),
    path: fc.constantFrom("src", "lib"),
  }),
);

/** Changes the tree; what cannot be done is left. */
async function take({ kind, path }: { kind: string; path: string }): Promise<void> {
  const file = join(root, path);
  try {
    if (kind === "settle") await sleep(SETTLED_MS);
    else if (kind === "remove") rmSync(file, { recursive: true, force: true });
    else if (kind === "unlist") git("rm", "-rq", "--cached", "--", path);
    else if (kind === "add" || kind === "force") git("add", ...(kind === "force" ? ["-f"] : []), "--", path);
    else if (kind === "add-all") git("add", "-A");
    else if (kind === "commit") git("commit", "-qm", "x");
    else if (kind === "switch") git("checkout", "-q", "-f", existsSync(join(root, "a.ts")) ? "other" : "main");
    else if (kind === "rename") renameSync(file, join(root, "new"));
    else {
      mkdirSync(kind === "repository" ? file : dirname(file), { recursive: true });
      if (kind === "write") writeFileSync(file, "");
      else if (kind === "link") symlinkSync("src", file);
      else if (kind === "rules") writeFileSync(file, "b.ts\nmore/\n");
      else execFileSync("git", ["init", "-q", file], { stdio: "ignore" });
    }
  } catch {
    // A folder is there instead of a file, or the other way round.
  }
}

describe("the list of files after changes", () => {
  it("is the one that git makes", async () => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        start();
        await list();
        for (const taken of steps) {
          await take(taken);
          expect(await list(), JSON.stringify(taken)).toEqual((await listWorkTreeFiles(root)).paths());
        }
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });
});
