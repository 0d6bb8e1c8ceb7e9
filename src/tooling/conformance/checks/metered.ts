/** Embedding, reranking, usage, and the same in other services' formats. They cost a few credits. */
import { answered, type Answer, type Check, equal, holds, refused, remaining } from "../target.ts";

const TEXTS = ["function add(a, b) { return a + b }", "class Stack {}"];
const QUERY = "add two numbers";
/** One more than a request may hold. */
const TOO_LONG = "a".repeat(480_001);

/** The first field that an INVALID_BODY names. */
function issue({ body }: Answer): unknown {
  const details = body["details"] as { issues?: { path?: unknown }[] } | undefined;
  return details?.issues?.[0]?.path;
}

function creditsOf({ body }: Answer): number {
  const { credits } = (body["usage"] ?? {}) as { credits?: unknown };
  holds(
    Number.isInteger(credits) && Number(credits) >= 1,
    `usage.credits is ${String(credits)}, not a number from 1 on`,
  );
  return Number(credits);
}

export const meteredChecks: Check[] = [
  {
    title: "GET /embed and GET /rerank check a key, free of charge",
    needs: ["apiKey"],
    run: async (target) => {
      const before = await target.call("/usage", { as: "apiKey" });
      const embed = await target.call("/embed", { as: "apiKey" });
      answered(embed, { ok: "boolean", fingerprint: "string", dimension: "number" });
      equal((await target.call("/rerank", { as: "apiKey" })).body, { ok: true }, "the answer of GET /rerank");
      const after = await target.call("/usage", { as: "apiKey" });
      equal(after.body["credits"], before.body["credits"], "credits after two free checks");
      return `${String(embed.body["fingerprint"])}, ${String(embed.body["dimension"])} dimensions`;
    },
  },
  {
    title: "POST /embed gives one vector per text in the pinned space, and usage counts what it charged",
    needs: ["apiKey"],
    run: async (target) => {
      const pinned = await target.call("/embed", { as: "apiKey" });
      const before = await target.call("/usage", { as: "apiKey" });
      const answer = await target.call("/embed", { as: "apiKey", json: { input: TEXTS } });
      answered(answer, { ok: "boolean", fingerprint: "string", dimension: "number", embeddings: "array" });
      for (const field of ["fingerprint", "dimension"]) equal(answer.body[field], pinned.body[field], field);
      const rows = answer.body["embeddings"] as { index: number; vector: number[] }[];
      equal(
        rows.map(({ index }) => index),
        [0, 1],
        "the indexes of the embeddings",
      );
      for (const { vector } of rows) equal(vector.length, answer.body["dimension"], "the length of a vector");
      const credits = creditsOf(answer);
      const after = await target.call("/usage", { as: "apiKey" });
      const used = (usage: Answer) => (usage.body["credits"] as { used: number }).used;
      holds(
        used(after) - used(before) >= credits,
        `usage grew by ${used(after) - used(before)}, not by ${credits} credits`,
      );
    },
  },
  {
    title: "POST /embed refuses bad input, names the field, and spends one request on it",
    needs: ["apiKey"],
    run: async (target) => {
      const cases: [unknown, string][] = [
        [{}, "input"],
        [{ input: [] }, "input"],
        [{ input: ["a", ""] }, "input.1"],
        [{ input: Array.from({ length: 129 }, () => "a") }, "input"],
        [{ input: ["a"], inputType: "other" }, "inputType"],
      ];
      for (const [json, field] of cases) {
        const answer = await target.call("/embed", { as: "apiKey", json });
        refused(answer, 400, "INVALID_BODY");
        equal(issue(answer), field, "the field");
      }
      refused(await target.call("/embed", { as: "apiKey", json: { input: [TOO_LONG] } }), 413, "INPUT_TOO_LARGE");
      const first = await target.call("/embed", { as: "apiKey", json: {} });
      const second = await target.call("/embed", { as: "apiKey", json: {} });
      const isNewWindow = first.headers.get("X-RateLimit-Reset") !== second.headers.get("X-RateLimit-Reset");
      // Others may use the tenant at the same time.
      holds(isNewWindow || remaining(first) - remaining(second) >= 1, "a 400 does not count against the rate limit");
    },
  },
  {
    title: "POST /rerank scores every document once",
    needs: ["apiKey"],
    run: async (target) => {
      const answer = await target.call("/rerank", { as: "apiKey", json: { query: QUERY, documents: TEXTS } });
      answered(answer, { ok: "boolean", results: "array" });
      const rows = answer.body["results"] as { index: number; relevanceScore: number }[];
      equal(
        rows.map(({ index }) => index).toSorted((a, b) => a - b),
        [0, 1],
        "the documents that are scored",
      );
      for (const { relevanceScore } of rows) equal(typeof relevanceScore, "number", "the type of relevanceScore");
      creditsOf(answer);
    },
  },
  {
    title: "POST /rerank refuses an empty query, more than 1,000 documents and too many characters",
    needs: ["apiKey"],
    run: async (target) => {
      const documents = Array.from({ length: 1_001 }, () => "a");
      refused(
        await target.call("/rerank", { as: "apiKey", json: { query: "", documents: ["a"] } }),
        400,
        "INVALID_BODY",
      );
      refused(await target.call("/rerank", { as: "apiKey", json: { query: "q", documents } }), 400, "INVALID_BODY");
      const large = { query: "q", documents: [TOO_LONG] };
      refused(await target.call("/rerank", { as: "apiKey", json: large }), 413, "INPUT_TOO_LARGE");
    },
  },
  {
    title: "OpenAI's embeddings and models, as its clients ask for them",
    needs: ["apiKey"],
    run: async (target) => {
      const json = { model: "any", input: TEXTS, encoding_format: "base64" };
      const answer = await target.call("/v1/embeddings", { as: "apiKey", json });
      answered(answer, { object: "string", data: "array", model: "string", usage: "object" });
      const rows = answer.body["data"] as { embedding: string }[];
      const { dimension } = (await target.call("/embed", { as: "apiKey" })).body;
      for (const { embedding } of rows) {
        equal(Buffer.from(embedding, "base64").length / 4, dimension, "the length of a base64 vector");
      }
      const models = await target.call("/v1/models", { as: "apiKey" });
      equal(
        (models.body["data"] as { id: string }[]).map(({ id }) => id),
        [answer.body["model"]],
        "the models",
      );
      const wrong = await target.call("/v1/embeddings", { as: "apiKey", json: { model: "any", input: [1, 2] } });
      equal(
        [wrong.status, (wrong.body["error"] as { param?: string }).param],
        [400, "input"],
        "the answer to token ids",
      );
    },
  },
  {
    title: "Cohere's embeddings and reranking, best first",
    needs: ["apiKey"],
    run: async (target) => {
      const json = { model: "any", texts: TEXTS, input_type: "search_document", embedding_types: ["float"] };
      const embed = await target.call("/v2/embed", { as: "apiKey", json });
      answered(embed, { id: "string", embeddings: "object", texts: "array", meta: "object" });
      equal((embed.body["embeddings"] as { float: unknown[] }).float.length, TEXTS.length, "the number of vectors");
      const rerank = await target.call("/v2/rerank", {
        as: "apiKey",
        json: { model: "any", query: QUERY, documents: TEXTS },
      });
      answered(rerank, { id: "string", results: "array" });
      const scores = (rerank.body["results"] as { relevance_score: number }[]).map((row) => row.relevance_score);
      equal(
        scores,
        scores.toSorted((a, b) => b - a),
        "the scores",
      );
    },
  },
];
