import { Pacer } from "../../../lib/pause.ts";
import { UpstreamError } from "../errors.ts";
import { computeFingerprint } from "../fingerprint.ts";
import { estimateTokens } from "../tokens.ts";
import type { EmbedOptions, EmbedResult, Embedder, InputType } from "../types.ts";
import { embedInSlices, embedScanned } from "./lexical.ts";
import { Scanner } from "./scanner.ts";
import { loadTable, TERM_TABLE_DIMENSION, TERM_TABLE_ID, type TableSource } from "./term-table.ts";
import { TermVectors } from "./term-vectors.ts";

/**
 * The builtin embeddings. `lexical` matches words; `terms`, the default, matches what they mean as well: its first components are the vector
 * of the trained table, the others the lexical one, so that a cosine is the weighted sum of both cosines.
 */
export const BUILTIN_MODELS = ["terms", "lexical"] as const;
type BuiltinModel = (typeof BUILTIN_MODELS)[number];

export const BUILTIN_DEFAULT_DIMENSION = 256;
export const BUILTIN_MAX_DIMENSION = 4096;
const MIN_LEXICAL_DIMENSION = 32;
/** Shortest vector of each model. */
export const BUILTIN_MIN_DIMENSION: Readonly<Record<BuiltinModel, number>> = {
  terms: TERM_TABLE_DIMENSION + MIN_LEXICAL_DIMENSION,
  lexical: MIN_LEXICAL_DIMENSION,
};

/** Increment with every change that alters vectors of the model, except by another table, whose id the fingerprint covers. */
const PREPROCESSING_VERSION: Readonly<Record<BuiltinModel, number>> = { terms: 1, lexical: 1 };
/** Share of the table's cosine in that of two vectors. */
const TERMS_SHARE = 2 / 3;
/** Work between two interruptions, in UTF-16 units of text. */
const SLICE_UNITS = 16_384;

export class BuiltinEmbedder implements Embedder {
  readonly isModel = false;
  readonly fingerprint: string;
  readonly dimension: number;
  readonly #table: TableSource | undefined;

  /** With `table` the model `terms`, otherwise `lexical`. */
  constructor(dimension: number = BUILTIN_DEFAULT_DIMENSION, table?: TableSource) {
    this.dimension = dimension;
    this.#table = table;
    const model = table === undefined ? "lexical" : "terms";
    this.fingerprint = computeFingerprint({
      provider: "builtin",
      model: table === undefined ? model : `${model}-${TERM_TABLE_ID}`,
      dimension,
      preprocessingVersion: PREPROCESSING_VERSION[model],
    });
  }

  async probeDimension(): Promise<number> {
    return this.dimension;
  }

  async embed(inputs: readonly string[], options: EmbedOptions): Promise<EmbedResult> {
    if (options.signal?.aborted === true) throw new UpstreamError("ABORTED");
    const pacer = new Pacer(SLICE_UNITS);
    const terms = this.#table === undefined ? undefined : new TermVectors(await loadTable(this.#table), pacer);
    const scanner = new Scanner();
    const vectors: Float32Array[] = [];
    for (const input of inputs) {
      vectors.push(
        terms === undefined
          ? await embedInSlices(input, this.dimension, pacer)
          : await this.#embedWithTerms(input, options.inputType, { terms, scanner, pacer }),
      );
    }
    return { vectors, tokens: estimateTokens(inputs) };
  }

  async #embedWithTerms(
    text: string,
    side: InputType,
    { terms, scanner, pacer }: { terms: TermVectors; scanner: Scanner; pacer: Pacer },
  ): Promise<Float32Array> {
    await scanner.scanInSlices(text, true, pacer);
    const meaning = terms.ofScanned(scanner, side);
    const lexical = await embedScanned(scanner, text, this.dimension - meaning.length, pacer);
    // A text without words has the lexical part alone.
    const share = meaning.some((value) => value !== 0) ? TERMS_SHARE : 0;
    const [first, second] = [Math.sqrt(share), Math.sqrt(1 - share)];
    const vector = new Float32Array(this.dimension);
    for (const [i, value] of meaning.entries()) vector[i] = first * value;
    for (const [i, value] of lexical.entries()) vector[meaning.length + i] = second * value;
    return vector;
  }
}
