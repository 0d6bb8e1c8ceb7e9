/**
 * `npm run bench -- hosted --repo BARE [--only branches,replay,switches] [--branches 50] [--questions 1000] [--switches 50] [--queries 10000]`
 *
 * Whether hosted search answers from the right revision, over HTTP on the production bundles: many branches in one workspace against
 * fresh workspaces, recorded answers against a second stack, and queries while runs switch revisions. `BARE` is a bare clone of a real
 * repository with tags, whose tags stand for branches and pushes.
 */
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { startGitServer } from "../src/tooling/local/git/git-server.ts";
import type { RunningService } from "../src/tooling/local/stack/service.ts";
import { benchBranches } from "./hosted/branches.ts";
import { benchReplay } from "./hosted/replay.ts";
import { benchSwitches } from "./hosted/switches.ts";
import { startBenchService } from "./hosted/team.ts";
import { temporaryFolder } from "./support.ts";

const PARTS = ["branches", "replay", "switches"] as const;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      repo: { type: "string" },
      only: { type: "string" },
      branches: { type: "string", default: "50" },
      questions: { type: "string", default: "1000" },
      switches: { type: "string", default: "50" },
      queries: { type: "string", default: "10000" },
    },
  });
  if (values.repo === undefined) {
    console.error("bench hosted: give --repo, a bare clone of a repository with tags");
    process.exit(2);
  }
  const wanted = new Set<string>(values.only?.split(",") ?? PARTS);
  const repository = path.resolve(values.repo);
  const folder = temporaryFolder("hosted");
  const served = path.join(folder, "served");
  mkdirSync(served);
  symlinkSync(repository, path.join(served, "repository"));
  const git = await startGitServer(served);
  const start = (name: string): Promise<RunningService> => startBenchService(path.join(folder, name));
  const running = await start("first");
  const given = { running, url: `${git.origin}/repository`, repository };
  try {
    if (wanted.has("branches")) await benchBranches(given, Number(values.branches));
    if (wanted.has("replay")) await benchReplay(given, () => start("second"), Number(values.questions));
    if (wanted.has("switches")) {
      const counts = { queries: Number(values.queries), switches: Number(values.switches) };
      await benchSwitches(running.service, { origin: git.origin, served }, counts);
    }
  } finally {
    await running.stop();
    await git.close();
  }
}
