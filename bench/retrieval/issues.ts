/** Issues of SWE-bench: the query is the issue's whole text, the expected results are the files that its fix changed. */
import { existsSync } from "node:fs";
import path from "node:path";
import { search } from "../../src/engines/search/search.ts";
import { PlainBm25 } from "./baselines.ts";
import { filesOfCommit, indexCorpus, type OpenCorpus, parseFiles, type ParsedContents } from "./corpus.ts";
import { allWithin, mean, quantile, ranksOf, reciprocalRank, type Ranked } from "./metrics.ts";

interface Issue {
  id: string;
  repo: string;
  commit: string;
  query: string;
  files: string[];
}

const RESULTS = 50;

export async function benchIssues(
  json: <T>(file: string) => T,
  repos: string,
  parsed: ParsedContents,
  showMisses: boolean,
): Promise<void> {
  const measures = new Map<string, { within: boolean[]; reciprocal: number; ms: number }[]>();
  const measure = (
    engine: string,
    files: readonly string[],
    results: readonly Pick<Ranked, "path">[],
    ms: number,
  ): void => {
    const targets = files.map((file) => ({ path: file }));
    const within = [1, 3, 5, 10].map((k) => allWithin(targets, results, k));
    measures.set(engine, [
      ...(measures.get(engine) ?? []),
      { within, reciprocal: reciprocalRank(targets, results), ms },
    ]);
  };
  let last: { commit: string; open: OpenCorpus; bm25: PlainBm25 } | undefined;
  for (const { id, repo, commit, query, files } of json<Issue[]>("issues/dev.json")) {
    const folder = path.join(repos, repo.split("/").at(-1) ?? repo);
    if (!existsSync(folder)) {
      console.log(`(left out: ${id}, ${repo} is not in the folder of repositories)`);
      continue;
    }
    // In a set of one's own, many queries may follow each other at one commit.
    if (last?.commit !== commit) {
      const opened = await indexCorpus(await parseFiles(filesOfCommit(folder, commit), parsed));
      last = { commit, open: opened, bm25: new PlainBm25(opened.corpus) };
    }
    const { open, bm25 } = last;
    const startedAt = performance.now();
    const { results } = await search(open.index, { query, limit: RESULTS }, open.texts);
    measure("codectx", files, results, performance.now() - startedAt);
    measure("plain BM25", files, bm25.search(query, RESULTS), 0);
    const ranks = ranksOf(
      files.map((file) => ({ path: file })),
      results,
    );
    if (showMisses && ranks.some((rank) => rank !== 0))
      console.log(
        `  ${id}: ${ranks.join(",")} ${files.join(" ")} | ${results
          .slice(0, 3)
          .map((r) => r.path)
          .join(" ")}`,
      );
  }
  console.log("\nissues        Acc@1  Acc@3  Acc@5  Acc@10   MRR    p50 ms  p95 ms");
  for (const [engine, rows] of measures) {
    const acc = [0, 1, 2, 3].map((i) => mean(rows.map(({ within }) => Number(within[i]))).toFixed(3));
    const times = rows.map(({ ms }) => ms);
    console.log(
      `${engine.padEnd(12)}  ${acc.join("  ")}   ${mean(rows.map(({ reciprocal }) => reciprocal)).toFixed(3)}  ${engine === "codectx" ? `${quantile(times, 0.5).toFixed(1).padStart(6)}  ${quantile(times, 0.95).toFixed(1).padStart(6)}` : ""}`,
    );
  }
  console.log(
    "published on all of Lite (other repositories too), Acc@1 / @5: BM25 0.387 / 0.617, CodeRankEmbed 0.526 / 0.847",
  );
}
