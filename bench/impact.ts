/**
 * `npm run bench -- impact <repository…> [--cases N] [--fit]`
 * The hidden files of commits, found from the diff of the others: the share among the first five that `impact` names, with and without
 * history, beside co-change alone and the words of the diff alone. With `--fit`, weights are fitted on the repositories as well.
 */
import { createHash } from "node:crypto";
import path from "node:path";
import { parseArgs } from "node:util";
import { fileParser } from "../src/cli/indexing/parse-file.ts";
import { detectLanguage } from "../src/engines/parsing/detect.ts";
import { coChanges } from "../src/engines/impact/co-change.ts";
import { UsesIndex } from "../src/engines/relations/uses-index.ts";
import { openIndex, type SearchIndex } from "../src/engines/search/search-index.ts";
import { Segment } from "../src/engines/search/segment.ts";
import { buildSegment } from "../src/engines/search/segment-writer.ts";
import { buildTable } from "../src/engines/search/table.ts";
import type { RevisionFile } from "../src/engines/search/types.ts";
import type { OpenIndexes } from "../src/interface/questions/code-index.ts";
import { changeIn, readChange } from "../src/interface/questions/impact/change.ts";
import { evidenceOf } from "../src/interface/questions/impact/evidence.ts";
import { featuresOf, OF_HISTORY, rankFiles } from "../src/interface/questions/impact/rank.ts";
import { type Case, casesOf } from "./impact/cases.ts";
import { fit, type Sample } from "./impact/fit.ts";
import { inMemory } from "../src/engines/search/bytes.ts";
import { filesOfCommit } from "./retrieval/corpus.ts";
import { median } from "./support.ts";

const FIRST = 5;
const WAYS = ["impact", "no history", "co-change", "words"] as const;
type Way = (typeof WAYS)[number];

interface Score {
  kind: Case["kind"];
  /** Share of the hidden files among the first. */
  found: Record<Way, number>;
  ms: number;
}

export async function run(args: string[]): Promise<void> {
  const options = { cases: { type: "string", default: "50" }, fit: { type: "boolean", default: false } } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  if (positionals.length === 0) throw new Error("Give repositories, bare or not.");
  console.log(`${"repository".padEnd(24)} hidden  cases  ${WAYS.map((way) => way.padStart(10)).join(" ")}`);
  const all: Score[] = [];
  const samples = { withHistory: [] as Sample[], withoutHistory: [] as Sample[] };
  for (const given of positionals) {
    const scores = await scoresOf(path.resolve(given), Number(values.cases), samples);
    report(
      given
        .replace(/\/repo\/?$/, "")
        .split("/")
        .at(-1) ?? given,
      scores,
    );
    all.push(...scores);
  }
  report("all", all);
  console.log(`evidence and ranking: median ${median(all.map(({ ms }) => ms)).toFixed(1)} ms`);
  if (!values.fit) return;
  const size = samples.withHistory[0]?.features[0]?.length ?? 0;
  const show = (weights: readonly number[]) => weights.map((weight) => Number(weight.toFixed(2)));
  console.log("with history", JSON.stringify(show(fit(samples.withHistory, size, new Set()))));
  console.log("without", JSON.stringify(show(fit(samples.withoutHistory, size, OF_HISTORY))));
}

function report(name: string, scores: readonly Score[]): void {
  for (const kind of ["source", "tests"] as const) {
    const own = scores.filter((score) => score.kind === kind);
    const means = WAYS.map((way) => (own.reduce((sum, { found }) => sum + found[way], 0) / own.length).toFixed(3));
    console.log(
      `${name.padEnd(24)} ${kind.padEnd(6)} ${String(own.length).padStart(6)}  ${means.map((mean) => mean.padStart(10)).join(" ")}`,
    );
  }
}

async function scoresOf(
  repository: string,
  count: number,
  samples: { withHistory: Sample[]; withoutHistory: Sample[] },
): Promise<Score[]> {
  const cases = casesOf(repository, count);
  const indexAt = await indexes(
    repository,
    cases.map(({ parent }) => parent),
  );
  const scores: Score[] = [];
  for (const each of cases) {
    const files = new UsesIndex(await indexAt(each.parent), () => []);
    const hidden = each.hidden.filter((own) => files.has(own));
    if (hidden.length === 0) continue;
    const startedAt = performance.now();
    const change = await changeIn(opened(files), 0, files, readChange({ patch: each.patch } as never), []);
    const evidence = await evidenceOf(files, change, each.history);
    const ranked = rankFiles(evidence);
    const ms = performance.now() - startedAt;
    const without = { ...evidence, together: undefined };
    const share = (list: readonly { path: string }[]) =>
      list.slice(0, FIRST).filter(({ path: own }) => hidden.includes(own)).length / hidden.length;
    const words = (await files.alike(change.words.terms(), FIRST + each.shown.length)).files;
    scores.push({
      kind: each.kind,
      ms,
      found: {
        impact: share(ranked),
        "no history": share(rankFiles(without)),
        "co-change": share(coChanges(each.history, each.shown).filter((own) => files.has(own.path))),
        words: share(words.filter((own) => !each.shown.includes(own.path))),
      },
    });
    const at = evidence.files.flatMap((file, i) => (hidden.includes(file.path) ? [i] : []));
    samples.withHistory.push({ features: evidence.files.map((file) => featuresOf(file, evidence)), hidden: at });
    samples.withoutHistory.push({ features: evidence.files.map((file) => featuresOf(file, without)), hidden: at });
  }
  return scores;
}

/** As much of the indexes as a patch against the indexed commit asks of them. */
function opened(files: UsesIndex): OpenIndexes {
  const own: Partial<OpenIndexes> = {
    indexes: [{ name: "", gitSha: null, indexedAtMs: 0, isWorkTree: false }],
    withUses: (_, work) => work(files, files),
    file: () => Promise.resolve(undefined),
  };
  return own as OpenIndexes;
}

/** Opens the index of any of some commits. Their contents are in one segment, since most are the same. */
async function indexes(
  repository: string,
  commits: readonly string[],
): Promise<(commit: string) => Promise<SearchIndex>> {
  const parse = fileParser(undefined);
  const revisions = new Map<string, RevisionFile[]>();
  const analyses = new Map<string, Uint8Array | undefined>();
  for (const commit of new Set(commits)) {
    const files: RevisionFile[] = [];
    for (const { path: file, bytes } of filesOfCommit(repository, commit)) {
      const language = detectLanguage(file, bytes);
      if (!language) continue;
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const key = `${sha256} ${language}`;
      if (!analyses.has(key)) {
        const outcome = await parse(new Uint8Array(bytes), language);
        analyses.set(key, "analysis" in outcome ? outcome.analysis : undefined);
      }
      if (analyses.get(key)) files.push({ path: file, sha256, language });
    }
    revisions.set(commit, files);
  }
  const bytes = buildSegment([...analyses.values()].filter((each) => each !== undefined));
  const segment = await Segment.open(inMemory(bytes));
  return (commit) => {
    const { table } = buildTable(revisions.get(commit) ?? [], [{ id: "segment", segment }]);
    return openIndex([{ table: inMemory(table), segment: () => inMemory(bytes) }]);
  };
}
