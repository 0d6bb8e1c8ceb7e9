/** Measures which of the gold lines an answer shows. */
import { existsSync } from "node:fs";
import path from "node:path";
import { search } from "../../src/engines/search/search.ts";
import type { SearchResult } from "../../src/engines/search/types.ts";
import { filesOfCommit, indexCorpus, type OpenCorpus, ParsedContents, parseFiles } from "../retrieval/corpus.ts";
import { mean } from "../retrieval/metrics.ts";
import type { LineCase } from "./make.ts";

/** Lines around a hunk that count as gold: what a diff shows. */
const CONTEXT = 3;
/** A hunk in a definition of at most so many lines makes the whole definition gold in the second measure. */
const MAX_DEFINITION_LINES = 60;
const RESAMPLES = 1_000;

interface Row {
  repo: string;
  half: string;
  values: Record<string, number>;
}

/** Prints line F1, precision, coverage and files for each budget and half, with 95 % intervals over repositories. */
export async function measureLines(
  cases: readonly LineCase[],
  mirrors: string,
  {
    half,
    budgets,
    cache,
    limit,
  }: { half?: string | undefined; budgets: readonly number[]; cache?: string | undefined; limit?: number | undefined },
): Promise<void> {
  const parsed = new ParsedContents(cache);
  const rows: Row[] = [];
  for (const [repo, own] of Map.groupBy(cases, (one) => one.repo)) {
    const folder = path.join(mirrors, repo.replace("/", "+"), "repo");
    const [first] = own;
    if (!first || (half !== undefined && first.half !== half)) continue;
    if (!existsSync(folder)) {
      console.log(`(left out: ${repo} is not in the folder of mirrors)`);
      continue;
    }
    const open = await indexCorpus(await parseFiles(filesOfCommit(folder, first.commit), parsed));
    for (const one of own.slice(0, limit))
      for (const budget of budgets) {
        const { results, tokens } = await search(open.index, { query: one.query, maxTokens: budget }, open.texts);
        rows.push({ repo, half: `${one.half} ${budget}`, values: { ...valuesOf(one, results, open), tokens } });
      }
  }
  report(rows);
}

function valuesOf(one: LineCase, results: readonly SearchResult[], open: OpenCorpus): Record<string, number> {
  const shown = new Set<string>();
  let [characters, untilGold] = [0, -1];
  const hunks = linesOf(one.gold, ([from, to]) => [from - CONTEXT, to + CONTEXT]);
  for (const { path: file, excerpts } of results)
    for (const { startLine, text } of excerpts)
      for (const [i, line] of text.split("\n").entries()) {
        const key = `${file} ${startLine + i}`;
        shown.add(key);
        characters += line.length + 8;
        if (untilGold < 0 && hunks.has(key)) untilGold = characters / 4;
      }
  const definitions = linesOf(one.gold, (range, file) => definitionAround(range, file, open));
  const files = Object.keys(one.gold);
  const listed = new Set(results.map((result) => result.path));
  const [a, b] = [overlap(shown, hunks), overlap(shown, definitions)];
  return {
    F1: a.f1,
    precision: a.precision,
    coverage: a.coverage,
    defF1: b.f1,
    defCov: b.coverage,
    files: mean(files.map((file) => Number(listed.has(file)))),
    first: Number(files.includes(results[0]?.path ?? "")),
    found: Number(untilGold >= 0),
    lines: shown.size,
  };
}

function linesOf(
  gold: LineCase["gold"],
  widen: (range: [number, number], file: string) => [number, number],
): Set<string> {
  const lines = new Set<string>();
  for (const [file, ranges] of Object.entries(gold))
    for (const range of ranges) {
      const [from, to] = widen(range, file);
      for (let line = Math.max(1, from); line <= to; line++) lines.add(`${file} ${line}`);
    }
  return lines;
}

function definitionAround([from, to]: [number, number], file: string, open: OpenCorpus): [number, number] {
  const found = open.corpus.files.find((one) => one.path === file);
  const symbols = (found && open.corpus.contents.get(`${found.sha256} ${found.language}`)?.symbols) ?? [];
  const around = symbols
    .filter(
      ({ startLine, endLine }) => startLine <= from && endLine >= to && endLine - startLine < MAX_DEFINITION_LINES,
    )
    .toSorted((a, b) => b.endLine - b.startLine - (a.endLine - a.startLine))
    .at(-1);
  return around ? [around.startLine, around.endLine] : [from - CONTEXT, to + CONTEXT];
}

function overlap(shown: ReadonlySet<string>, gold: ReadonlySet<string>) {
  let both = 0;
  for (const line of shown) if (gold.has(line)) both++;
  const precision = shown.size === 0 ? 0 : both / shown.size;
  const coverage = gold.size === 0 ? 0 : both / gold.size;
  return { precision, coverage, f1: both === 0 ? 0 : (2 * precision * coverage) / (precision + coverage) };
}

function report(rows: readonly Row[]): void {
  const names = Object.keys(rows[0]?.values ?? {});
  console.log(`\n${"half, budget".padEnd(16)} cases  ${names.map((name) => name.padStart(9)).join(" ")}`);
  for (const [half, own] of [...Map.groupBy(rows, (row) => row.half)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const figures = names.map((name) => mean(own.map(({ values }) => values[name] ?? 0)));
    console.log(
      `${half.padEnd(16)} ${String(own.length).padStart(5)}  ${figures.map((figure) => figure.toFixed(figure >= 10 ? 0 : 3).padStart(9)).join(" ")}`,
    );
    const ranges = ["F1", "coverage", "defF1", "defCov"].map((name) => `${name} ${interval(own, name)}`);
    console.log(`  95 % over repositories: ${ranges.join("  ")}`);
  }
}

/** Bootstrap over repositories, with a fixed seed. */
function interval(rows: readonly Row[], name: string): string {
  const groups = [...Map.groupBy(rows, ({ repo }) => repo).values()].map((own) =>
    own.map(({ values }) => values[name] ?? 0),
  );
  let state = 1;
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const means = Array.from({ length: RESAMPLES }, () =>
    mean(groups.flatMap(() => groups[Math.floor(random() * groups.length)] ?? [])),
  ).sort((a, b) => a - b);
  const at = (share: number): string => (means[Math.floor(share * RESAMPLES)] ?? 0).toFixed(3);
  return `[${at(0.025)}, ${at(0.975)}]`;
}
