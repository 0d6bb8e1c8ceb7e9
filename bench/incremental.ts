/**
 * `npm run bench -- incremental --repo BARE [--commits 60] [--show 5]`
 *
 * Checks out the last commits of the main line one after another and asks questions of every kind about what each has changed: of the index
 * that follows them, and of one made afresh. Prints which answers differ, and ends with exit code 1 if there are any. `BARE` is a bare clone.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { Commands } from "../test/support/commands.ts";
import { gitIn } from "./hosted/team.ts";
import { temporaryFolder } from "./support.ts";

const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|java|kt|c|h|cc|cpp|rb|php|cs|swift)$/;
const DECLARED =
  /\b(?:function|class|def|func|fn|fun|struct|interface|trait|type|const|void|int) \*?([A-Za-z_]\w{2,40})/g;
/** Files of a commit whose names are asked for. */
const MAX_FILES = 4;
/** No file may change again without a trace, so that both indexes keep the same. */
const AHEAD_MS = 3_600_000;
const MAX_SHOWN_CHARACTERS = 300;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      repo: { type: "string" },
      commits: { type: "string", default: "60" },
      show: { type: "string", default: "5" },
    },
  });
  if (values.repo === undefined) {
    console.error("bench incremental: give --repo, a bare clone");
    process.exit(2);
  }
  const folder = temporaryFolder("incremental");
  const tree = path.join(folder, "tree");
  execFileSync("git", ["-c", "safe.directory=*", "clone", "-q", "--shared", path.resolve(values.repo), tree]);
  gitIn(tree, "remote", "set-url", "origin", "https://github.com/bench/incremental.git");
  const commits = gitIn(tree, "log", "--first-parent", "--format=%H", "-n", values.commits).split("\n").toReversed();
  const commands = new Commands();
  const ask = async (question: readonly string[], cache: string) => {
    const env = { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_CACHE_HOME: path.join(folder, cache) };
    const command = { args: [...question, "--json"], cwd: tree, env, aheadMs: AHEAD_MS };
    const { exit, stdout, stderr } = await commands.run(command);
    return { exit, told: `${stdout}${stderr}`.replaceAll(/"indexedAt": ?"[^"]*"/g, "") };
  };
  let [asked, found, different] = [0, 0, 0];
  for (const [i, commit] of commits.entries()) {
    gitIn(tree, "checkout", "-q", "--detach", commit);
    for (const question of questionsAbout(tree, i)) {
      const followed = await ask(question, "followed");
      const fresh = await ask(question, "fresh");
      asked++;
      if (fresh.exit === 0) found++;
      if (followed.exit === fresh.exit && followed.told === fresh.told) continue;
      if (different++ >= Number(values.show)) continue;
      console.log(`${commit.slice(0, 12)} ${question.join(" ")}`);
      for (const { exit, told } of [followed, fresh]) console.log(`  ${exit} ${told.slice(0, MAX_SHOWN_CHARACTERS)}`);
    }
    rmSync(path.join(folder, "fresh"), { recursive: true, force: true });
  }
  commands.close();
  console.log(
    `${commits.length} commits, ${asked} questions, ${found} with an answer, ${different} answered differently`,
  );
  if (different > 0) process.exitCode = 1;
}

/** Questions about the files that a commit has changed and the names in them. Deterministic. */
function questionsAbout(tree: string, turn: number): string[][] {
  const changed = gitIn(tree, "diff", "--name-only", "--no-renames", "HEAD~1", "HEAD").split("\n");
  const files = changed.filter((name) => CODE.test(name));
  const texts = files.filter((name) => existsSync(path.join(tree, name))).slice(0, MAX_FILES);
  const declared = texts.flatMap((name) =>
    [...readFileSync(path.join(tree, name), "utf8").matchAll(DECLARED)].map(([, own]) => own ?? ""),
  );
  const names = [...new Set(declared)].toSorted();
  const nameAt = (n: number): string => names[(turn * 7 + n * 13) % names.length] ?? "main";
  const file = files[turn % files.length] ?? "README.md";
  const words = names.slice(0, 2).join(" ");
  return [
    ["search", gitIn(tree, "log", "-1", "--format=%s") || "change"],
    ["search", words === "" ? "error" : words],
    ["symbol", nameAt(0)],
    ["refs", nameAt(1)],
    ["callers", nameAt(0)],
    ["callers", nameAt(2), "--depth", "2"],
    ["callees", nameAt(1)],
    ["implementations", nameAt(3)],
    ["importers", file],
    ["path", nameAt(4), nameAt(0)],
    ["impact", "HEAD~1..HEAD"],
    ["impact", nameAt(2)],
    ["outline", file],
    ["grep", nameAt(2)],
    ["coverage", path.dirname(file)],
  ];
}
