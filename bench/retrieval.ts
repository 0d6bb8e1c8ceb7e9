/**
 * `npm run bench -- retrieval --eval DIR --repos DIR [--issue-repos DIR] [--cache DIR] [--misses] [--only semble|issues|cosqa|speed]`
 *
 * Quality of the ranking on public queries with known answers, beside plain BM25 and ripgrep in the same run. `DIR`s default to
 * EVAL_DIR and EVAL_REPOS_DIR. The first holds `semble/`, `issues/` and `cosqa/` (see docs/ranking.md), the second a checkout of
 * each repository under its name; `--issue-repos` may hold other clones, bare ones too, for the commits of the issues. `--cache` keeps parsed files between runs.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { benchCosqa } from "./retrieval/cosqa.ts";
import { ParsedContents } from "./retrieval/corpus.ts";
import { benchIssues } from "./retrieval/issues.ts";
import { benchSemble } from "./retrieval/semble.ts";
import { benchSpeed } from "./retrieval/speed.ts";
import { evaluationFolders } from "./support.ts";

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      eval: { type: "string" },
      repos: { type: "string" },
      "issue-repos": { type: "string" },
      cache: { type: "string" },
      only: { type: "string" },
      misses: { type: "boolean", default: false },
    },
  });
  const { evalFolder, repos } = evaluationFolders(values);
  const parsed = new ParsedContents(values.cache);
  const json = <T>(file: string): T => JSON.parse(readFileSync(path.join(evalFolder, file), "utf8")) as T;
  const isWanted = (name: string): boolean =>
    (values.only === undefined || values.only === name) && existsSync(path.join(evalFolder, name));
  if (isWanted("semble")) await benchSemble(json, repos, parsed, values.misses);
  if (isWanted("issues")) await benchIssues(json, values["issue-repos"] ?? repos, parsed, values.misses);
  if (isWanted("cosqa")) await benchCosqa(json, parsed);
  if (values.only === undefined || values.only === "speed") await benchSpeed(json, repos, parsed);
}
