/** Queries of the semble benchmark (MIT): NDCG@10 over files, in two views of each repository. */
import { existsSync } from "node:fs";
import path from "node:path";
import { search } from "../../src/engines/search/search.ts";
import type { SearchIndex } from "../../src/engines/search/search-index.ts";
import { estimateTokens } from "../../src/engines/embedding/tokens.ts";
import { hasRipgrep, PlainBm25, ripgrep } from "./baselines.ts";
import { filesOfFolder, indexCorpus, parseFiles, type ParsedContents } from "./corpus.ts";
import { mean, ndcg10, quantile, ranksOf, tokensUntilSeen, type Ranked, type Target } from "./metrics.ts";

type Label = string | { path: string; start_line?: number; end_line?: number };

interface Query {
  query: string;
  relevant: Label[];
  secondary: Label[];
  category: string;
}

/** Published by its authors for all 63 repositories. */
const PUBLISHED =
  "published for all 63: ripgrep 0.126, BM25 0.673, BM25 with a ranking stack 0.834, CodeRankEmbed hybrid 0.862";
/** A result list that lacks the target is as bad as one that shows it after so many tokens. */
const NEVER_TOKENS = 32_000;
const RESULTS = 10;

interface Row {
  view: string;
  engine: string;
  repo: string;
  category: string;
  ndcg: number;
  tokens: number;
  ms: number;
}

export async function benchSemble(
  json: <T>(file: string) => T,
  repos: string,
  parsed: ParsedContents,
  showMisses: boolean,
): Promise<void> {
  const rows: Row[] = [];
  const withRipgrep = hasRipgrep();
  let [files, chunks, segmentBytes, buildMs] = [0, 0, 0, 0];
  for (const { name, benchmark_root: root } of json<{ name: string; benchmark_root?: string | null }[]>(
    "semble/repos.json",
  )) {
    const folder = path.join(repos, name);
    if (!existsSync(folder)) {
      console.log(`(left out: ${name} is not in the folder of repositories)`);
      continue;
    }
    const corpus = await parseFiles(filesOfFolder(folder), parsed);
    const queries = json<Query[]>(`semble/${name}.json`);
    for (const view of ["root", "full"]) {
      const inView = (file: string): boolean => view === "full" || root == null || file.startsWith(`${root}/`);
      const open = await indexCorpus(corpus, inView);
      if (view === "full") {
        files += open.index.fileCount;
        chunks += open.index.documentCount;
        segmentBytes += open.segmentBytes;
        buildMs += open.buildMs;
      }
      const bm25 = new PlainBm25(open.corpus);
      for (const { query, relevant, secondary, category } of queries) {
        const found = (label: Label): Target => resolveTarget(targetOf(label), root ?? "", open.index);
        const targets = [...relevant, ...secondary].map(found);
        const measure = (engine: string, results: readonly Ranked[], ms: number): void => {
          const tokens = tokensUntilSeen(relevant.map(found), results, NEVER_TOKENS);
          rows.push({ view, engine, repo: name, category, ndcg: ndcg10(targets, results), tokens, ms });
        };
        const startedAt = performance.now();
        const { results } = await search(open.index, { query, limit: RESULTS }, open.texts);
        const ms = performance.now() - startedAt;
        measure(
          "codectx",
          results.map((r) => ({ ...r, tokens: estimateTokens(r.excerpts.map(({ text }) => text)) })),
          ms,
        );
        measure("plain BM25", bm25.search(query, RESULTS), 0);
        if (withRipgrep && view === "full") measure("ripgrep", ripgrep(folder, query, inView, RESULTS), 0);
        if (showMisses && ndcg10(targets, results) < 0.5)
          console.log(
            `  ${view} ${name}: ${query} ${ranksOf(targets, results).join(",")} ${targets.map((t) => t.path).join(" ")} | ${results
              .slice(0, 3)
              .map((r) => r.path)
              .join(" ")}`,
          );
      }
    }
  }
  report(rows);
  console.log(
    `${files} files, ${chunks} chunks: segments ${(segmentBytes / chunks).toFixed(0)} bytes a chunk, built in ${(buildMs / 1000).toFixed(1)} s`,
  );
  if (!withRipgrep) console.log("(left out: ripgrep is not installed)");
  console.log(PUBLISHED);
}

/** Labels of some repositories are paths from the benchmark's root. */
function resolveTarget(target: Target, root: string, index: SearchIndex): Target {
  const below = `${root}/${target.path}`;
  return index.fileAt(0, target.path) === undefined && index.fileAt(0, below) !== undefined
    ? { ...target, path: below }
    : target;
}

function targetOf(label: Label): Target {
  if (typeof label === "string") return { path: label };
  const { path, start_line: startLine, end_line: endLine } = label;
  return startLine === undefined || endLine === undefined ? { path } : { path, startLine, endLine };
}

function report(rows: readonly Row[]): void {
  console.log(
    "\nsemble            NDCG@10   by repository   symbol  semantic  architecture   tokens until seen (mean)   p50 ms  p95 ms",
  );
  for (const view of ["root", "full"]) {
    for (const engine of ["codectx", "plain BM25", "ripgrep"]) {
      const own = rows.filter((row) => row.view === view && row.engine === engine);
      if (own.length === 0) continue;
      const repos = [...new Set(own.map(({ repo }) => repo))];
      const byRepo = mean(repos.map((repo) => mean(own.filter((row) => row.repo === repo).map(({ ndcg }) => ndcg))));
      const category = (name: string): string =>
        mean(own.filter((row) => row.category === name).map(({ ndcg }) => ndcg)).toFixed(4);
      const times = own.map(({ ms }) => ms);
      console.log(
        `${view} ${engine.padEnd(12)} ${mean(own.map(({ ndcg }) => ndcg)).toFixed(4)}    ${byRepo.toFixed(4)}          ${category("symbol")}  ${category("semantic")}    ${category("architecture")}         ${mean(
          own.map(({ tokens }) => tokens),
        )
          .toFixed(0)
          .padStart(
            6,
          )}                  ${engine === "codectx" ? `${quantile(times, 0.5).toFixed(1).padStart(6)}  ${quantile(times, 0.95).toFixed(1).padStart(6)}` : "     –       –"}`,
      );
    }
  }
}
