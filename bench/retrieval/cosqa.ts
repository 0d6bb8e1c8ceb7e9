/** CoSQA: real web queries, each with one of 6,267 Python functions as its answer. Each function is a file here. */
import { search } from "../../src/engines/search/search.ts";
import { indexCorpus, parseFiles, type ParsedContents } from "./corpus.ts";
import { mean, ndcg10, reciprocalRank } from "./metrics.ts";

interface Query {
  doc: string;
  retrieval_idx: number;
}

const RESULTS = 50;

export async function benchCosqa(json: <T>(file: string) => T, parsed: ParsedContents): Promise<void> {
  const functions = Object.entries(json<Record<string, number>>("cosqa/code_idx_map.txt"));
  const nameOf = (index: number): string => `f${index}.py`;
  const files = functions.map(([code, index]) => ({ path: nameOf(index), bytes: Buffer.from(code) }));
  const { index, texts } = await indexCorpus(await parseFiles(files, parsed));
  const [ranks, ndcgs]: [number[], number[]] = [[], []];
  for (const { doc, retrieval_idx: target } of json<Query[]>("cosqa/cosqa-retrieval-dev-500.json")) {
    const { results } = await search(
      index,
      { query: doc, limit: RESULTS, include: ["tests", "docs", "examples"] },
      texts,
    );
    ranks.push(reciprocalRank([{ path: nameOf(target) }], results));
    ndcgs.push(ndcg10([{ path: nameOf(target) }], results));
  }
  console.log(
    `\nCoSQA, 500 queries: MRR ${mean(ranks).toFixed(3)}, NDCG@10 ${mean(ndcgs).toFixed(3)} (plain BM25 of the same terms: MRR 0.343)`,
  );
}
