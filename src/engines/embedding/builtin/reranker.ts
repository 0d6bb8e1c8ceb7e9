import { Pacer } from "../../../lib/pause.ts";
import { UpstreamError } from "../errors.ts";
import { computeRerankFingerprint } from "../fingerprint.ts";
import { estimateTokens } from "../tokens.ts";
import type { CallOptions, RerankResult, Reranker } from "../types.ts";
import { scoreDocuments } from "./bm25.ts";
import { loadTable, TERM_TABLE_ID, type TableSource } from "./term-table.ts";
import { TermVectors } from "./term-vectors.ts";

const PREPROCESSING_VERSION = 1;
/** Work between two interruptions, in UTF-16 units of text. */
const SLICE_UNITS = 16_384;

/**
 * The builtin rerankers, behind the provider interface. `lexical` is `scoreDocuments`; `terms`, the default, its mean with the cosine of the
 * texts by the trained table, where that is positive. Results are in the order of the documents.
 */
export class BuiltinReranker implements Reranker {
  readonly fingerprint: string;
  readonly #table: TableSource | undefined;

  /** With `table` the model `terms`, otherwise `lexical`. */
  constructor(table?: TableSource) {
    this.#table = table;
    const model = table === undefined ? "lexical" : `terms-${TERM_TABLE_ID}`;
    this.fingerprint = computeRerankFingerprint("builtin", model, PREPROCESSING_VERSION);
  }

  async rerank(query: string, documents: readonly string[], options: CallOptions = {}): Promise<RerankResult> {
    if (options.signal?.aborted === true) throw new UpstreamError("ABORTED");
    const scores = await scoreDocuments(query, documents);
    if (this.#table !== undefined) {
      const vectors = new TermVectors(await loadTable(this.#table), new Pacer(SLICE_UNITS));
      const asked = await vectors.of(query, "query");
      for (const [i, document] of documents.entries()) {
        const own = await vectors.of(document, "document");
        const cosine = asked.reduce((sum, value, k) => sum + value * (own[k] as number), 0);
        scores[i] = ((scores[i] as number) + Math.min(1, Math.max(0, cosine))) / 2;
      }
    }
    const results = Array.from(scores, (relevanceScore, index) => ({ index, relevanceScore }));
    return { results, tokens: estimateTokens([query, ...documents]) };
  }
}
