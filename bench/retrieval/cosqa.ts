/** CoSQA: real web queries, each with one of 6,267 Python functions as its answer. Each function is a file here. */
import { readFileSync } from "node:fs";
import { BUILTIN_MODELS } from "../../src/engines/embedding/builtin/embedder.ts";
import { loadTable } from "../../src/engines/embedding/builtin/term-table.ts";
import { TermVectors } from "../../src/engines/embedding/builtin/term-vectors.ts";
import { createEmbedder, createReranker } from "../../src/engines/embedding/index.ts";
import { search } from "../../src/engines/search/search.ts";
import { Pacer } from "../../src/lib/pause.ts";
import { PlainBm25 } from "./baselines.ts";
import { indexCorpus, parseFiles, type ParsedContents } from "./corpus.ts";
import { mean, ndcg10, reciprocalRank } from "./metrics.ts";

interface Query {
  doc: string;
  retrieval_idx: number;
}

const RESULTS = 50;
/** The reciprocal rank of what is further down counts 0. */
const MAX_RANK = 100;
const TERMS = new URL("../../src/engines/embedding/builtin/terms.bin", import.meta.url);
/** Results that are ordered again with the table, and what a cosine of 1 adds to their score. */
const REORDERED = 20;
const COSINE_WEIGHT = 16;
/** Work between two interruptions, in UTF-16 units of text. */
const SLICE_UNITS = 16_384;

export async function benchCosqa(json: <T>(file: string) => T, parsed: ParsedContents): Promise<void> {
  const functions = Object.entries(json<Record<string, number>>("cosqa/code_idx_map.txt"));
  const nameOf = (index: number): string => `f${index}.py`;
  const files = functions.map(([code, index]) => ({ path: nameOf(index), bytes: Buffer.from(code) }));
  const { index, texts, corpus } = await indexCorpus(await parseFiles(files, parsed));
  const queries = json<Query[]>("cosqa/cosqa-retrieval-dev-500.json");
  const codeOf = new Map(functions.map(([code, own]) => [nameOf(own), code]));
  const vectors = new TermVectors(await loadTable(readTable), new Pacer(SLICE_UNITS));
  const [ranks, ndcgs, reordered]: [number[], number[], number[]] = [[], [], []];
  for (const { doc, retrieval_idx: target } of queries) {
    const { results } = await search(
      index,
      { query: doc, limit: RESULTS, include: ["tests", "docs", "examples"] },
      texts,
    );
    ranks.push(reciprocalRank([{ path: nameOf(target) }], results));
    ndcgs.push(ndcg10([{ path: nameOf(target) }], results));
    const again = await orderAgain(doc, results, codeOf, vectors);
    reordered.push(reciprocalRank([{ path: nameOf(target) }], again));
  }
  console.log(
    `\nCoSQA, 500 queries: MRR ${mean(ranks).toFixed(3)}, NDCG@10 ${mean(ndcgs).toFixed(3)} (plain BM25 of the same terms: MRR 0.343)`,
  );
  console.log(
    `  its first ${REORDERED} ordered again with the table, as search does not: MRR ${mean(reordered).toFixed(3)}`,
  );
  const codes = functions.map(([code]) => code);
  const positions = new Map(functions.map(([, own], i) => [own, i]));
  const asked = queries.map(({ doc, retrieval_idx }) => ({
    text: doc,
    target: positions.get(retrieval_idx) as number,
  }));
  const bm25 = new PlainBm25(corpus);
  const places = new Map(functions.map(([, own], i) => [nameOf(own), i]));
  await benchModels(asked, codes, (query) => bm25.search(query, RESULTS).map(({ path }) => places.get(path) as number));
}

/** The first results by their score and the cosine of the question and the function by the trained table, then the others. */
async function orderAgain<T extends { path: string; score: number }>(
  question: string,
  results: readonly T[],
  codeOf: ReadonlyMap<string, string>,
  vectors: TermVectors,
): Promise<T[]> {
  const asked = await vectors.of(question, "query");
  const first: { result: T; score: number }[] = [];
  for (const result of results.slice(0, REORDERED)) {
    const own = await vectors.of(codeOf.get(result.path) ?? "", "document");
    const cosine = asked.reduce((sum, value, k) => sum + value * (own[k] as number), 0);
    first.push({ result, score: result.score + COSINE_WEIGHT * cosine });
  }
  first.sort((a, b) => b.score - a.score);
  return [...first.map(({ result }) => result), ...results.slice(REORDERED)];
}

async function readTable(): Promise<ArrayBuffer> {
  return new Uint8Array(readFileSync(TERMS)).buffer;
}

/** The builtin models: embeddings alone, and rerankers of the candidates that `candidatesOf` gives. */
async function benchModels(
  queries: readonly { text: string; target: number }[],
  codes: readonly string[],
  candidatesOf: (query: string) => number[],
): Promise<void> {
  const deps = {
    fetch: () => Promise.reject(new Error("builtin models ask nobody")),
    terms: readTable,
  };
  const candidates = queries.map(({ text }) => candidatesOf(text));
  const given = queries.map(({ target }, i) => {
    const at = (candidates[i] as number[]).indexOf(target);
    return at < 0 ? 0 : 1 / (at + 1);
  });
  console.log(`CoSQA, MRR of builtin models (order that the rerankers are given: ${mean(given).toFixed(3)})`);
  for (const model of BUILTIN_MODELS) {
    const config = { provider: "builtin", model, timeoutMs: 60_000 } as const;
    const [embedder, reranker] = [createEmbedder(config, deps), createReranker(config, deps)];
    if (!embedder || !reranker) continue;
    const { vectors } = await embedder.embed(codes, { inputType: "document" });
    const [alone, reranked]: [number[], number[]] = [[], []];
    for (const [i, { text, target }] of queries.entries()) {
      const [query] = (await embedder.embed([text], { inputType: "query" })).vectors as [Float32Array];
      const scores = vectors.map((vector) => vector.reduce((sum, value, k) => sum + value * (query[k] as number), 0));
      alone.push(reciprocalOf(scores, target));
      const own = candidates[i] as number[];
      const { results } = await reranker.rerank(
        text,
        own.map((at) => codes[at] as string),
      );
      const at = own.indexOf(target);
      reranked.push(
        at < 0
          ? 0
          : reciprocalOf(
              results.map(({ relevanceScore }) => relevanceScore),
              at,
            ),
      );
    }
    console.log(`  ${model.padEnd(8)} embedding ${mean(alone).toFixed(3)}, reranking ${mean(reranked).toFixed(3)}`);
  }
}

/** 1 / rank of the one at `target`; what has the same score and stands before it ranks above it. */
function reciprocalOf(scores: readonly number[], target: number): number {
  const own = scores[target] as number;
  const rank = 1 + scores.filter((score, i) => score > own || (score === own && i < target)).length;
  return rank > MAX_RANK ? 0 : 1 / rank;
}
