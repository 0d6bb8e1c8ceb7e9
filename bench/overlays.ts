/**
 * `npm run bench -- overlays --repo BARE [--sets 150] [--seed 1] [--agents 50] [--show 10]`
 *
 * Whether overlays answer as fresh indexes of the edited trees, over HTTP on the production bundles: random sets of edits of a real repository
 * (`test/support/edit-sets.ts`), half of them of the default branch, half of an earlier commit that is indexed beside it. Each is sent as an
 * overlay, and committed and indexed in a workspace of its own in another tenant; both are asked the same questions of every kind. Prints the
 * answers that differ, and how long searches take with and without an overlay. Then many agents make overlays and ask at once. `BARE` is a bare
 * clone. Ends with exit code 1 if answers differ.
 */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { parseArgs } from "node:util";
import { CodeContextClient, CodeContextError } from "../src/interface/client/index.ts";
import { openDb } from "../src/service/db/client.ts";
import { createTenant, createWorkspace } from "../src/service/tenancy/index.ts";
import { startGitServer } from "../src/tooling/local/git/git-server.ts";
import { type Asked, editSet, type EditSet, questionsOf } from "../test/support/edit-sets.ts";
import { seededIntegers } from "../test/support/numbers.ts";
import { gitIn, startBenchService } from "./hosted/team.ts";
import { median, temporaryFolder, timed } from "./support.ts";

/** Commits between the default branch and the base of every second set. */
const SIDE_DISTANCE = 30;
/** Searches of each set whose time is taken, on the overlay and on its base in turn. */
const TIMED = 4;
/** What differs between an overlay and a commit of the same files. */
const OWN_FIELDS = new Set(["workspaceId", "repo", "gitSha", "indexes", "digest", "indexedAt"]);

interface Where {
  workspaceId: string;
  overlay?: string;
  ref?: string;
}

interface Base {
  ref: string;
  commit: string;
  tree: Map<string, string>;
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      repo: { type: "string" },
      sets: { type: "string", default: "150" },
      seed: { type: "string", default: "1" },
      agents: { type: "string", default: "50" },
      show: { type: "string", default: "10" },
    },
  });
  if (values.repo === undefined) {
    console.error("bench overlays: give --repo, a bare clone");
    process.exit(2);
  }
  const folder = temporaryFolder("overlays");
  const repository = path.join(folder, "served", "repository");
  execFileSync("git", ["-c", "safe.directory=*", "clone", "-q", "--bare", "--shared", values.repo, repository]);
  const git = await startGitServer(path.dirname(repository));
  const running = await startBenchService(path.join(folder, "data"));
  try {
    const { apiUrl, databaseUrl } = running.service;
    const db = openDb(databaseUrl);
    const teamOf = async () => {
      const { tenantId, apiKey, workerToken } = await createTenant(db, { name: "bench" });
      const client = new CodeContextClient({ baseUrl: apiUrl, apiKey, workerToken });
      const index = async (ref: string, workspaceId?: string): Promise<string> => {
        const id = workspaceId ?? (await createWorkspace(db, { tenantId })).workspaceId;
        const source = { type: "git", url: `${git.origin}/repository`, ref } as const;
        await client.index({ workspaceId: id, source, options: { current: workspaceId === undefined } });
        return id;
      };
      return { client, index };
    };
    const [edited, fresh] = [await teamOf(), await teamOf()];
    const bases = ["HEAD", `HEAD~${SIDE_DISTANCE}`].map((ref, i) => baseOf(repository, ref, `base${i}`));
    const [main, side] = bases as [Base, Base];
    const workspaceId = await edited.index(main.ref);
    await edited.index(side.ref, workspaceId);

    const upTo = seededIntegers(Number(values.seed));
    const counts = new Map<string, { asked: number; different: number; notFound: number }>();
    const times = { base: [] as number[], overlay: [] as number[], make: [] as number[] };
    let shown = 0;
    for (let set = 0; set < Number(values.sets); set++) {
      const { tree, commit } = set % 2 === 0 ? main : side;
      const edits = editSet(tree, upTo);
      const files = [...edits].map(([name, text]) => ({ path: name, text }));
      const made = await timed(() => edited.client.createOverlay({ workspaceId, base: commit, files }));
      times.make.push(made.ms);
      const branch = `set${set}`;
      commitEdits(repository, commit, edits, branch);
      const [here, there] = [{ workspaceId, overlay: made.value.overlay }, { workspaceId: await fresh.index(branch) }];
      const questions = questionsOf(tree, edits, upTo);
      for (const [name, request] of questions) {
        const [found, expected] = await Promise.all([
          answerTo(edited.client, name, request, here),
          answerTo(fresh.client, name, request, there),
        ]);
        const kind = typeof request["relation"] === "string" ? request["relation"] : name;
        const count = counts.get(kind) ?? { asked: 0, different: 0, notFound: 0 };
        counts.set(kind, count);
        count.asked++;
        if (expected.startsWith('{"code"')) count.notFound++;
        if (found === expected) continue;
        count.different++;
        if (shown++ < Number(values.show))
          showDifference(`set ${set}, ${name} ${JSON.stringify(request)}`, found, expected);
      }
      const searches = questions.filter(([name]) => name === "search").slice(0, TIMED);
      for (const [name, request] of searches) {
        for (const [kind, where] of [
          ["base", { workspaceId, ref: commit }],
          ["overlay", here],
        ] as const)
          times[kind].push((await timed(() => answerTo(edited.client, name, request, where))).ms);
      }
    }
    console.table(Object.fromEntries(counts));
    const [base, overlay] = [median(times.base), median(times.overlay)];
    console.log(`making an overlay p50 ${median(times.make).toFixed(0)} ms`);
    console.log(
      `search p50: ${base.toFixed(1)} ms of a base, ${overlay.toFixed(1)} ms of an overlay (+${(overlay - base).toFixed(1)} ms, goal +15)`,
    );
    if ([...counts.values()].some(({ different }) => different > 0)) process.exitCode = 1;
    await manyAgents(edited.client, { workspaceId, base: main.commit }, Number(values.agents));
  } finally {
    await running.stop();
    await git.close();
  }
}

/** Agents that each make an overlay, all at once, and ask for the line that only theirs has. */
async function manyAgents(client: CodeContextClient, base: { workspaceId: string; base: string }, agents: number) {
  const ids = Array.from({ length: agents }, (_, n) => n);
  const made = await Promise.all(
    ids.map((n) =>
      timed(() =>
        client.createOverlay({ ...base, files: [{ path: "own.ts", text: `export const agent${n} = ${n};\n` }] }),
      ),
    ),
  );
  const asked = await Promise.all(
    ids.map((n) => {
      const scope = { workspaceId: base.workspaceId, overlay: made[n]?.value.overlay };
      return timed(() => client.grep({ ...scope, pattern: "^export const agent\\d+ = " }));
    }),
  );
  const wrong = asked.filter(({ value }, n) => {
    const [match, ...others] = value.matches;
    return others.length > 0 || match?.text !== `export const agent${n} = ${n};`;
  });
  const most = (values: { ms: number }[]) => Math.max(...values.map(({ ms }) => ms)).toFixed(0);
  console.log(
    `${agents} agents at once: the last overlay was made after ${most(made)} ms, the last answer came after ${most(asked)} ms; ${wrong.length} answers of another overlay`,
  );
  if (wrong.length > 0) process.exitCode = 1;
}

/** The commit as a branch of its own, with the texts of its files. */
function baseOf(repository: string, ref: string, branch: string): Base {
  gitIn(repository, "branch", branch, ref);
  const tree = new Map<string, string>();
  for (const entry of gitIn(repository, "ls-tree", "-r", "-z", branch).split("\0")) {
    const [, mode = "", oid = "", name = ""] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(entry) ?? [];
    if (name === "") continue;
    const text = mode.startsWith("100") ? textOf(repository, oid) : undefined;
    tree.set(name, text ?? "\0");
  }
  return { ref: branch, commit: gitIn(repository, "rev-parse", branch), tree };
}

/** The text of a blob; undefined if it is none. */
function textOf(repository: string, oid: string): string | undefined {
  const bytes = execFileSync("git", ["-c", "safe.directory=*", "-C", repository, "cat-file", "blob", oid], {
    maxBuffer: 1 << 30,
  });
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Commits the edits on top of `base` as a branch, without a work tree. */
function commitEdits(repository: string, base: string, edits: EditSet, branch: string): void {
  const env = {
    ...process.env,
    GIT_INDEX_FILE: path.join(repository, "bench-index"),
    ...Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((who) => [
        [`GIT_${who}_NAME`, "bench"],
        [`GIT_${who}_EMAIL`, "bench@example.com"],
        [`GIT_${who}_DATE`, "1700000000 +0000"],
      ]),
    ),
  };
  const git = (args: string[], input = ""): string =>
    execFileSync("git", ["-c", "safe.directory=*", "-C", repository, ...args], { env, input })
      .toString()
      .trim();
  git(["read-tree", base]);
  const rows = [...edits].map(([name, text]) => ({
    name,
    oid: text === null ? "0".repeat(40) : git(["hash-object", "-w", "--stdin"], text),
    mode: text === null ? "0" : "100644",
  }));
  // Deletions first: a file may take the place of a folder.
  const ordered = rows.toSorted((a, b) => Number(a.mode) - Number(b.mode));
  git(
    ["update-index", "-z", "--index-info"],
    ordered.map(({ mode, oid, name }) => `${mode} ${oid}\t${name}\0`).join(""),
  );
  const tree = git(["write-tree"]);
  git(["update-ref", `refs/heads/${branch}`, git(["commit-tree", tree, "-p", base, "-m", branch])]);
}

/** An answer as text, errors included, without what differs between an overlay and a commit. */
async function answerTo(client: CodeContextClient, name: Asked[0], request: object, where: Where): Promise<string> {
  const ask = client[name].bind(client) as (asked: object) => Promise<object>;
  const answer = await ask({ ...where, ...request }).catch((error: unknown) => {
    if (!(error instanceof CodeContextError) || error.status >= 500 || error.status === 429) throw error;
    return { code: error.code, message: error.message, details: error.details };
  });
  return JSON.stringify(answer, (key, value: unknown) => (OWN_FIELDS.has(key) ? undefined : value));
}

const SHOWN_CHARACTERS = 400;

function showDifference(what: string, found: string, expected: string): void {
  let at = 0;
  while (found[at] === expected[at]) at++;
  const from = Math.max(0, at - SHOWN_CHARACTERS / 4);
  console.log(`${what}\n  overlay: …${found.slice(from, at + SHOWN_CHARACTERS)}`);
  console.log(`  fresh:   …${expected.slice(from, at + SHOWN_CHARACTERS)}`);
}
