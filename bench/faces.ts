/**
 * `npm run bench -- faces --repo BARE [--questions 500] [--show 20]`
 *
 * Asks questions about a repository at every face (HTTP, MCP over HTTP and stdio, `codectx` here and with `--remote`) and prints where
 * the answers differ. `BARE` is a bare clone. Ends with exit code 1 if there are differences.
 */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { parseArgs } from "node:util";
import { GREP } from "../src/contract/questions.ts";
import { CodeContextClient } from "../src/interface/client/index.ts";
import { openDb } from "../src/service/db/client.ts";
import { createTenant, createWorkspace } from "../src/service/tenancy/index.ts";
import { startGitServer } from "../src/tooling/local/git/git-server.ts";
import { differencesOf, Faces } from "../test/support/ask-faces.ts";
import type { QuestionName } from "../test/support/faces.ts";
import { gitIn, spread, startBenchService } from "./hosted/team.ts";
import { temporaryFolder } from "./support.ts";

const REPO = "github.com/bench/faces";

type Asked = [name: QuestionName, request: Record<string, unknown>];

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      repo: { type: "string" },
      questions: { type: "string", default: "500" },
      show: { type: "string", default: "20" },
    },
  });
  if (values.repo === undefined) {
    console.error("bench faces: give --repo, a bare clone");
    process.exit(2);
  }
  const repository = path.resolve(values.repo);
  const folder = temporaryFolder("faces");
  const tree = path.join(folder, "tree");
  execFileSync("git", ["-c", "safe.directory=*", "clone", "-q", repository, tree]);
  gitIn(tree, "remote", "set-url", "origin", `https://${REPO}.git`);
  const git = await startGitServer(path.dirname(repository));
  const running = await startBenchService(path.join(folder, "data"));
  try {
    const { apiUrl, databaseUrl } = running.service;
    const db = openDb(databaseUrl);
    const { tenantId, apiKey, workerToken } = await createTenant(db, { name: "bench" });
    const { workspaceId } = await createWorkspace(db, { tenantId, repo: REPO });
    const client = new CodeContextClient({ baseUrl: apiUrl, apiKey, workerToken });
    await client.index({ workspaceId, source: { type: "git", url: `${git.origin}/${path.basename(repository)}` } });
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      XDG_CACHE_HOME: path.join(folder, "cache"),
      CODECTX_API_URL: apiUrl,
      CODECTX_API_KEY: apiKey,
    };
    const faces = await Faces.open({ apiUrl, apiKey, cwd: tree, env, repo: REPO });
    await compareAll(faces, questionsAbout(tree, Number(values.questions)), Number(values.show));
    await faces.close();
  } finally {
    await running.stop();
    await git.close();
  }
}

async function compareAll(faces: Faces, questions: readonly Asked[], show: number): Promise<void> {
  const counts = new Map<QuestionName, { asked: number; different: number }>();
  let shown = 0;
  for (const [name, request] of questions) {
    const differences = differencesOf(request, await faces.ask(name, request));
    const count = counts.get(name) ?? { asked: 0, different: 0 };
    counts.set(name, { asked: count.asked + 1, different: count.different + Number(differences.length > 0) });
    if (differences.length === 0 || shown++ >= show) continue;
    console.log(`${name} ${JSON.stringify(request)}`);
    for (const difference of differences) console.log(`  ${difference.slice(0, 600)}`);
  }
  console.table(Object.fromEntries(counts));
  if ([...counts.values()].some(({ different }) => different > 0)) process.exitCode = 1;
}

/** Flags of `grep`, in turn. The command has no limit, so the others are given the highest, and one folder to search. */
const GREP_FLAGS = [{ wordRegexp: true }, { ignoreCase: true, filesOnly: true }, { count: true }, { context: 2 }];

/** Questions of each kind about a work tree, a tenth of them about what is not there. Deterministic. */
function questionsAbout(tree: string, count: number): Asked[] {
  const share = Math.ceil(count / 8);
  const paths = gitIn(tree, "ls-tree", "-r", "--name-only", "HEAD").split("\n");
  const code = spread(
    paths.filter((name) => /\.(ts|tsx|js|py|c|h|go|rs|rb|java)$/.test(name)),
    share,
  );
  const subjects = spread(gitIn(tree, "log", "--format=%s", "-n", "2000").split("\n"), share);
  const names = code.map((name) => {
    const words = gitIn(tree, "show", `HEAD:${name}`).match(/\b[A-Za-z_]\w{5,40}\b/g) ?? ["main"];
    return words[Math.floor(words.length / 2)] ?? "main";
  });
  const mangled = (text: string, i: number) => (i % 10 === 9 ? `${text.slice(0, -2)}${text.slice(-1)}q` : text);
  return [
    ...subjects.map((query, i): Asked => ["search", { query: mangled(query, i) || "change" }]),
    ...names.map((name, i): Asked => ["symbols", { name: mangled(name, i) }]),
    ...names.map((name, i): Asked => ["references", { name: mangled(name, i) }]),
    ...code.map((name, i): Asked => ["outline", { path: mangled(name, i) }]),
    ...code.map((name, i): Asked => ["file", { path: mangled(name, i), start: 1 + i, end: 20 + 3 * i }]),
    ...names.map((name, i): Asked => {
      const paths = [`${path.dirname(code[i] ?? "")}/*`];
      return [
        "grep",
        { pattern: mangled(name, i), paths, limit: GREP.limit.max, ...GREP_FLAGS[i % GREP_FLAGS.length] },
      ];
    }),
    ...code.map((name, i): Asked => ["coverage", { path: mangled(i % 2 === 0 ? path.dirname(name) : name, i) }]),
    ...code.map((name, i): Asked => ["files", { path: mangled(path.dirname(name), i), depth: 1 + (i % 3), limit: 50 }]),
  ];
}
