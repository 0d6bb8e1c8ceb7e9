/**
 * Runs the shell commands of README.md and docs/*.md as they stand there, page by page, against the service under test and a
 * small repository. A block is left out only where a comment above it says so, which readers do not see: `<!-- not run by the tests: <why> -->`
 * or `<!-- run by <test> -->`.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../../src/service/tenancy/index.ts";
import { CODECTX_ENTRY } from "../support/codectx-entry.ts";
import { GitRepo } from "../support/git-repo.ts";
import { database, newTenant, service } from "./support/service.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PAGES = [
  "README.md",
  ...readdirSync(path.join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const NOT_RUN = /^<!-- not run by the tests: .+ -->$/;
const RUN_BY = /^<!-- run by (test\/[\w./-]+\.ts) -->$/;
/** For what hangs: all pages at once take some 15 s where the machine is idle. */
const TIMEOUT_MS = 150_000;

interface Block {
  page: string;
  line: number;
  text: string;
  /** The last line above it that is not blank. */
  above: string;
}

/** Fenced shell blocks of a page, those in lists included. */
function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: { indent: string; line: number; above: string; lines: string[] } | undefined;
  let above = "";
  for (const [i, line] of readFileSync(path.join(ROOT, page), "utf8").split("\n").entries()) {
    const fence = /^( *)```(\w*)/.exec(line);
    if (open && fence?.[2] === "") {
      const { indent, lines } = open;
      blocks.push({
        page,
        line: open.line,
        above: open.above,
        text: lines.map((text) => text.slice(indent.length)).join("\n"),
      });
      open = undefined;
    } else if (open) open.lines.push(line);
    else if (fence && ["sh", "bash", "shell", "console"].includes(fence[2] ?? ""))
      open = { indent: fence[1] ?? "", line: i + 1, above, lines: [] };
    if (line.trim() !== "") above = line.trim();
  }
  return blocks;
}

describe("the commands of the documentation", () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "code-context-docs-"));
  beforeAll(() => writePrograms(folder));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.concurrent.each(PAGES)("%s", { timeout: 2 * TIMEOUT_MS }, async (page) => {
    const blocks = blocksOf(page).filter(isRunHere);
    if (blocks.length > 0) await run(blocks, mkdtempSync(path.join(folder, "page-")), folder);
  });

  it("are mostly run", () => {
    expect(PAGES.flatMap(blocksOf).filter(isRunHere).length).toBeGreaterThan(10);
  });
});

/** Throws for a block that names a test which does not exist. */
function isRunHere({ page, line, above }: Block): boolean {
  const elsewhere = RUN_BY.exec(above)?.[1];
  if (elsewhere !== undefined && !existsSync(path.join(ROOT, elsewhere)))
    throw new Error(`${page}:${line}: there is no ${elsewhere}`);
  return elsewhere === undefined && !NOT_RUN.test(above);
}

/** Programs that the commands find on their PATH. */
function writePrograms(folder: string): void {
  mkdirSync(path.join(folder, "bin"));
  // An answer of 400 or above fails the command.
  writeFileSync(path.join(folder, ".curlrc"), "fail-with-body\nmax-time = 30\n");
  const program = (name: string, text: string) =>
    writeFileSync(path.join(folder, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  program("node", `exec "${process.execPath}" "$@"`);
  program("codectx", `exec "${process.execPath}" "${CODECTX_ENTRY}" "$@"`);
  // `npm run admin -- …`, from wherever it is called.
  program(
    "npm",
    `[ "$1 $2" = "run admin" ] || { echo "npm $*: not covered by the test" >&2; exit 64; }
shift 3; exec "${process.execPath}" "${ROOT}/src/tooling/local/run.mjs" admin "$@"`,
  );
}

const FILES = {
  "src/router.ts": `import { parseConfig } from "./config.ts";

/** Finds the handler of a path. */
export class Router {
${Array.from({ length: 20 }, (_, i) => `  route${i}() {\n    return parseConfig("retry ${i}");\n  }\n`).join("")}}
`,
  "src/config.ts": "/** Reads exact words. */\nexport function parseConfig(text: string) {\n  return text.trim();\n}\n",
  "src/session.ts": `/** Sessions are closed here. */
export class SessionStore {
  close() {}
}
export function closeSession(store: SessionStore) {
  store.close();
}
export function closeExpired(store: SessionStore) {
  closeSession(store);
}
setInterval(() => closeExpired(new SessionStore()), 1000);
`,
  "cmd/words.go": "package main\n\n// Finds exact words.\nfunc words() {}\n",
  "lib/sinatra.rb": "module Sinatra\n  class Base\n    def call(env)\n    end\n  end\nend\n",
  "issue.txt": "Sessions are never closed after a timeout.\n",
};

/** Runs the blocks of a page one after the other in one shell, in a repository and for a tenant of their own. */
async function run(blocks: readonly Block[], home: string, tools: string): Promise<void> {
  const repo = new GitRepo({ root: home, name: "your-repository" }).files(FILES);
  repo.commit();
  repo.git("tag", "v1.2.0");
  repo.git("remote", "add", "origin", "https://github.com/acme/shop.git");
  const { tenantId, apiKey, workerToken, workspaceId } = await newTenant({ sharedIndex: true });
  const spare = await createKey(database(), { tenantId, name: "to revoke", kind: "api_key" });
  // What `npm start` leaves in its data directory.
  mkdirSync(path.join(repo.dir, ".data"));
  writeFileSync(path.join(repo.dir, ".data/service.json"), JSON.stringify({ apiKey, workerToken, workspaceId }));
  const { apiUrl, dataDir } = service();
  const replacements = [
    ["http://127.0.0.1:8787", apiUrl],
    ["https://api.example.com", apiUrl],
    ["KEY_ID", spare.id],
    ["TENANT_ID", tenantId],
    ["cd your-repository", ""],
  ] as const;
  const script = blocks.map(({ page, line, text }) => {
    const commands = replacements.reduce((commands, [from, to]) => commands.replaceAll(from, to), text);
    return `echo "@@ ${page}:${line}" >&2\n${commands}\n`;
  });
  await new Promise<void>((resolve, reject) => {
    const child = execFile(
      "bash",
      ["-e", "-o", "pipefail", "-c", script.join("")],
      {
        cwd: repo.dir,
        timeout: TIMEOUT_MS,
        env: {
          ...process.env,
          PATH: `${tools}/bin:${process.env["PATH"]}`,
          HOME: home,
          CURL_HOME: tools,
          XDG_CONFIG_HOME: path.join(home, "config"),
          XDG_CACHE_HOME: path.join(home, "cache"),
          DATA_DIR: dataDir,
          DATABASE_URL: "",
          KEY: apiKey,
          CODECTX_API_URL: apiUrl,
          CODECTX_API_KEY: apiKey,
        },
      },
      (error, stdout, stderr) => {
        if (error) reject(new Error(`${stderr.slice(-2_000)}\n${stdout.slice(-1_000)}`, { cause: error }));
        else resolve();
      },
    );
    child.stdin?.end();
  });
}
