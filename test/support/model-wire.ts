import { createHash } from "node:crypto";
import type { Fault, ModelApi, ModelServerOptions, TokenCount } from "./model-faults.ts";

/** Answers of the providers' servers, byte for byte as documented; used by `model-server.ts`. */

type FaultKind = Fault["kind"];
type Body = Record<string, unknown>;

export interface Answer {
  status: number;
  text: string;
}

/** The server's vector for `text`: unit length, float32, a function of text, dimension and kind of input. */
export function expectedVector(
  text: string,
  dimension: number,
  kind: "document" | "query" | "none" = "none",
): Float32Array {
  const digest = createHash("sha512").update(`${kind}\0${text}`).digest();
  const vector = Float32Array.from(
    { length: dimension },
    (_, i) => (digest[i % digest.length] as number) - 127.5 + i / 7,
  );
  const norm = Math.hypot(...vector);
  return vector.map((component) => component / norm);
}

/** The server's score, in (0, 1). */
export function expectedScore(query: string, document: string): number {
  const digest = createHash("sha256").update(`${query}\0${document}`).digest();
  return (digest.readUInt32BE(0) + 1) / (2 ** 32 + 2);
}

/** Documented limits of items per call. */
const MAX_ITEMS: Record<ModelApi, number> = { openai: 2048, voyage: 1000, cohere: 96, jina: 2048 };
const MAX_DOCUMENTS = 1000;

export function answerFor(
  api: ModelApi,
  path: string,
  body: Body,
  options: ModelServerOptions,
  fault?: FaultKind,
): Answer {
  const isEmbed = path === (api === "cohere" ? "/v2/embed" : "/v1/embeddings");
  const isRerank = path === (api === "cohere" ? "/v2/rerank" : "/v1/rerank") && api !== "openai";
  if (!isEmbed && !isRerank) return { status: 404, text: JSON.stringify({ error: { message: `no route ${path}` } }) };
  const field = isRerank ? "documents" : api === "cohere" ? "texts" : "input";
  const items = body[field];
  if (
    typeof body["model"] !== "string" ||
    !Array.isArray(items) ||
    !items.every((item) => typeof item === "string" && item !== "")
  ) {
    return invalid(`"model" and a non-empty "${field}" are required`);
  }
  if (options.maxItems !== undefined && items.length > options.maxItems) {
    return {
      status: 413,
      text: JSON.stringify({ error: `batch size ${items.length} > ${options.maxItems}`, error_type: "Validation" }),
    };
  }
  if (items.length > (isRerank ? MAX_DOCUMENTS : MAX_ITEMS[api])) return invalid(`too many items in "${field}"`);
  return isRerank ? rerank(api, body, items, options, fault) : embed(api, body, items, options, fault);
}

function invalid(message: string): Answer {
  return { status: 400, text: JSON.stringify({ error: { message, type: "invalid_request_error" } }) };
}

function count(texts: readonly string[], tokens: TokenCount | undefined): number | undefined {
  if (tokens === "none") return undefined;
  return typeof tokens === "number" ? tokens : texts.reduce((sum, text) => sum + text.length, 0);
}

/** The request field for the kind of input, and its two values. */
const INPUT_KINDS: Record<ModelApi, { field: string; document: string; query: string } | undefined> = {
  openai: undefined,
  voyage: { field: "input_type", document: "document", query: "query" },
  cohere: { field: "input_type", document: "search_document", query: "search_query" },
  jina: { field: "task", document: "retrieval.passage", query: "retrieval.query" },
};
const JINA_CODE_KINDS = { field: "task", document: "nl2code.passage", query: "nl2code.query" };
const DIMENSION_FIELD: Record<ModelApi, string> = {
  openai: "dimensions",
  voyage: "output_dimension",
  cohere: "output_dimension",
  jina: "dimensions",
};

function embed(api: ModelApi, body: Body, texts: string[], options: ModelServerOptions, fault?: FaultKind): Answer {
  const codeModel = api === "jina" && String(body["model"]).startsWith("jina-code-");
  const kinds = codeModel ? JINA_CODE_KINDS : INPUT_KINDS[api];
  const given = kinds === undefined ? undefined : body[kinds.field];
  if (kinds !== undefined && given !== kinds.document && given !== kinds.query)
    return invalid(`"${kinds.field}" is wrong`);
  const kind = kinds === undefined ? "none" : given === kinds.query ? "query" : "document";
  const dimension = (body[DIMENSION_FIELD[api]] as number | undefined) ?? options.dimension ?? 8;
  const types = body["embedding_types"];
  if (api === "cohere" && !(Array.isArray(types) && types.length > 0)) return invalid(`"embedding_types" is required`);
  const askedBase64 =
    api === "cohere"
      ? (types as unknown[]).includes("base64")
      : body[api === "jina" ? "embedding_type" : "encoding_format"] === "base64";
  const base64 = askedBase64 && options.floatsOnly !== true;
  const vectors = texts.map((text, i) => {
    const longer = fault === "wrong-dimension" || (fault === "inconsistent-dimension" && i === texts.length - 1);
    const vector = expectedVector(text, dimension + (longer ? 1 : 0), kind);
    if (i === 0 && fault === "nan") vector[0] = NaN;
    if (i === 0 && fault === "infinity") vector[0] = Infinity;
    return base64 ? encodeBase64(vector) : Array.from(vector);
  });
  const tokens = count(texts, options.tokens);
  if (api === "cohere") {
    const rows = resized(vectors, fault);
    return ok({
      id: "0b1c2d3e",
      embeddings: { [base64 ? "base64" : "float"]: rows },
      texts,
      meta: {
        api_version: { version: "2" },
        ...(tokens === undefined ? {} : { billed_units: { input_tokens: tokens } }),
      },
      response_type: "embeddings_by_type",
    });
  }
  const rows = vectors.map((embedding, index) => ({ object: "embedding", index, embedding }));
  return ok({
    object: "list",
    data: resized(reindexed(rows, fault), fault),
    model: body["model"],
    ...(tokens === undefined
      ? {}
      : { usage: { total_tokens: tokens, ...(api === "voyage" ? {} : { prompt_tokens: tokens }) } }),
  });
}

function rerank(
  api: ModelApi,
  body: Body,
  documents: string[],
  options: ModelServerOptions,
  fault?: FaultKind,
): Answer {
  const query = body["query"];
  if (typeof query !== "string" || query === "") return invalid(`"query" is required`);
  const rows = documents
    .map((document, index) => ({ index, relevance_score: expectedScore(query, document) }))
    .sort((a, b) => b.relevance_score - a.relevance_score);
  if (fault === "nan") (rows[0] as { relevance_score: number }).relevance_score = NaN;
  if (fault === "infinity") (rows[0] as { relevance_score: number }).relevance_score = Infinity;
  const results = resized(reindexed(rows, fault), fault);
  const tokens = count([query, ...documents], options.tokens);
  if (api === "cohere") {
    return ok({
      id: "0b1c2d3e",
      results,
      meta: {
        api_version: { version: "2" },
        billed_units: { search_units: 1, ...(tokens === undefined ? {} : { input_tokens: tokens }) },
      },
    });
  }
  const usage = tokens === undefined ? {} : { usage: { total_tokens: tokens } };
  return ok(
    api === "voyage"
      ? { object: "list", data: results, model: body["model"], ...usage }
      : { model: body["model"], results, ...usage },
  );
}

function resized<T>(rows: T[], fault?: FaultKind): T[] {
  if (fault === "too-few") return rows.slice(0, -1);
  return fault === "too-many" ? [...rows, rows[0] as T] : rows;
}

function reindexed<T extends { index: number }>(rows: T[], fault?: FaultKind): Partial<T>[] {
  if (fault === "duplicate-index") return rows.map((row) => ({ ...row, index: (rows[0] as T).index }));
  return fault === "missing-index" ? rows.map(({ index: _index, ...rest }) => rest as unknown as Partial<T>) : rows;
}

function encodeBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [i, component] of vector.entries()) bytes.writeFloatLE(component, i * 4);
  return bytes.toString("base64");
}

/** JSON as Python's encoder writes it, with bare NaN; infinity as a number that overflows. */
function ok(answer: Body): Answer {
  const text = JSON.stringify(answer, (_key, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? `@${value}@` : value,
  );
  return { status: 200, text: text.replaceAll('"@NaN@"', "NaN").replaceAll('"@Infinity@"', "1e999") };
}
