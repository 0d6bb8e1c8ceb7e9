/**
 * Makes a small data folder as an earlier commit writes it: `node test/upgrades/make.ts <commit>`.
 *
 * Checks the commit out into a temporary folder, installs its packages, starts its service (`npm start`), indexes a repository of
 * three files, embeds a text and stops. The folder is packed to `test/upgrades/data/<commit>.tar.br`, together with `expected.json`:
 * what the upgraded service must still know. `test/e2e/upgrades.test.ts` starts on each of them.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import os from "node:os";
import path from "node:path";
import { constants, brotliCompressSync } from "node:zlib";
import { startGitServer } from "../../src/tooling/local/git/git-server.ts";
import { PROJECT_ROOT } from "../../src/tooling/local/project.ts";
import { GitRepo } from "../support/git-repo.ts";

interface Service {
  apiUrl: string;
  workspaceId: string;
  apiKey: string;
  workerToken: string;
}

/** What `expected.json` holds. */
export interface Expected {
  commit: string;
  gitSha: string;
  runId: string;
  fileCount: number;
  symbolCount: number;
  usedCredits: number;
}

const FILES = {
  "README.md": "# Sessions\n\nHow sessions are opened and closed.\n",
  "src/session.ts":
    "/** Closes a session that has been idle for too long. */\nexport function closeIdleSession(id: string): void {\n  registry.delete(id);\n}\n\nexport class SessionRegistry {\n  open(id: string): void {\n    this.sessions.add(id);\n  }\n}\n",
  "src/tokens.py":
    'def rotate_token(token):\n    """Replaces a token by a new one."""\n    return issue(token.owner)\n',
};

const [commit] = process.argv.slice(2);
if (commit === undefined) throw new Error("usage: node test/upgrades/make.ts <commit>");
const short = execFileSync("git", ["rev-parse", "--short", commit], { cwd: PROJECT_ROOT, encoding: "utf8" }).trim();
const work = mkdtempSync(path.join(os.tmpdir(), "data-folder-"));
try {
  const checkout = path.join(work, "checkout");
  const dataDir = path.join(work, "data");
  mkdirSync(checkout);
  const archive = execFileSync("git", ["archive", short], { cwd: PROJECT_ROOT, maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", checkout], { input: archive });
  execFileSync("npm", ["ci", "--silent"], { cwd: checkout, stdio: "inherit" });
  const expected = await fill(checkout, dataDir);
  writeFileSync(path.join(dataDir, "expected.json"), JSON.stringify({ commit: short, ...expected }, null, 2));
  rmSync(path.join(dataDir, "logs"), { recursive: true, force: true });
  const tar = execFileSync("tar", ["-c", "--sort=name", "--owner=0", "--group=0", "-C", dataDir, "."], {
    maxBuffer: 1 << 30,
  });
  const file = path.join(PROJECT_ROOT, "test", "upgrades", "data", `${short}.tar.br`);
  mkdirSync(path.dirname(file), { recursive: true });
  // Most of a new database is zeros and text that repeats over megabytes.
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: tar.length,
  };
  const packed = brotliCompressSync(tar, { params });
  writeFileSync(file, packed);
  console.log(`${path.relative(PROJECT_ROOT, file)}: ${tar.length} bytes, packed ${packed.length}`, expected);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Runs the service of the checkout on a new data folder, uses it and stops it. */
async function fill(checkout: string, dataDir: string): Promise<Omit<Expected, "commit">> {
  // Any free ports; commits before 2026-11-21 do not take 0.
  const ports = { PORT: "18787", SITE_PORT: "18788" };
  const child = spawn("node_modules/.bin/node", ["src/tooling/local/run.mjs", "start"], {
    cwd: checkout,
    env: { ...process.env, ...ports, DATA_DIR: dataDir },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const exited = once(child, "exit");
  try {
    const serviceFile = path.join(dataDir, "service.json");
    while (!existsSync(serviceFile)) {
      if (child.exitCode !== null) throw new Error("the service did not start");
      await sleep(200);
    }
    return await use(JSON.parse(readFileSync(serviceFile, "utf8")) as Service);
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

async function use({ apiUrl, workspaceId, apiKey, workerToken }: Service): Promise<Omit<Expected, "commit">> {
  const call = async (method: string, route: string, token: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${apiUrl}${route}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  using repo = new GitRepo();
  repo.files(FILES).commit();
  const server = await startGitServer(repo.root);
  try {
    const source = { type: "git", url: `${server.origin}/${repo.name}/.git` };
    const run = (await call("POST", "/index", workerToken, { workspaceId, source })) as Expected;
    await call("POST", "/embed", apiKey, { input: ["how are sessions closed"] });
    const usage = (await call("GET", "/usage", apiKey)) as { credits: { used: number } };
    // The counters reach Postgres some seconds later.
    await sleep(6_000);
    const { runId, fileCount, symbolCount } = run;
    return { gitSha: repo.head(), runId, fileCount, symbolCount, usedCredits: usage.credits.used };
  } finally {
    await server.close();
  }
}
