/**
 * Tries the clients of other services against a running Code Context with nothing but a base URL and a key:
 *
 *   npm start                                        # elsewhere
 *   cd test/clients && npm install && API_URL=http://127.0.0.1:8787 API_KEY=cc_live_… npm run try
 *
 * Prints one line for each call and exits with 1 where one did not answer as the client expects.
 */
import { createCohere } from "@ai-sdk/cohere";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { constructLlmApi } from "@continuedev/openai-adapters";
import { CohereEmbeddings, CohereRerank } from "@langchain/cohere";
import { OpenAIEmbeddings } from "@langchain/openai";
import { OpenAIEmbedding } from "@llamaindex/openai";
import { embedMany, rerank } from "ai";
import { CohereClient, CohereClientV2 } from "cohere-ai";
import OpenAI from "openai";

const { API_URL: url, API_KEY: apiKey } = process.env;
if (!url || !apiKey) {
  console.error("set API_URL and API_KEY");
  process.exit(2);
}
const baseURL = `${url}/v1`;
const model = "any";
const texts = ["function add(a, b) { return a + b }", "class Stack {}"];
const documents = ["class Stack {}", "function add(a, b) { return a + b }"];
const query = "add two numbers";

const vectors = (found) => found.length === texts.length && found.every((vector) => vector.length > 1);
const best = (rows) => rows[0]?.index === 1;
const cohereOptions = { token: apiKey, environment: url, baseUrl: url };

const CALLS = {
  "OpenAI, embeddings": async () => {
    const { data } = await new OpenAI({ apiKey, baseURL }).embeddings.create({ model, input: texts });
    return vectors(data.map(({ embedding }) => embedding));
  },
  "OpenAI, models": async () => {
    const { data } = await new OpenAI({ apiKey, baseURL }).models.list();
    return data.length === 1;
  },
  "Cohere V2, embed": async () => {
    const client = new CohereClientV2(cohereOptions);
    const answer = await client.embed({ model, texts, inputType: "search_document", embeddingTypes: ["float"] });
    return vectors(answer.embeddings.float);
  },
  "Cohere V1, embed": async () => {
    const client = new CohereClient(cohereOptions);
    const answer = await client.embed({ model, texts, inputType: "search_document" });
    return answer.responseType === "embeddings_floats" && vectors(answer.embeddings);
  },
  "Cohere V2, rerank": async () =>
    best((await new CohereClientV2(cohereOptions).rerank({ model, query, documents })).results),
  "Cohere V1, rerank": async () =>
    best((await new CohereClient(cohereOptions).rerank({ model, query, documents })).results),
  "LangChain.js, OpenAIEmbeddings": async () =>
    vectors(await new OpenAIEmbeddings({ apiKey, model, configuration: { baseURL } }).embedDocuments(texts)),
  "LangChain.js, CohereEmbeddings": async () =>
    vectors(await new CohereEmbeddings({ model, client: new CohereClient(cohereOptions) }).embedDocuments(texts)),
  "LangChain.js, CohereRerank": async () =>
    best(await new CohereRerank({ model, client: new CohereClient(cohereOptions) }).rerank(documents, query)),
  "LlamaIndex.TS, OpenAIEmbedding": async () =>
    vectors(await new OpenAIEmbedding({ apiKey, model, baseURL }).getTextEmbeddings(texts)),
  "Continue, openai embedding": async () => {
    const api = constructLlmApi({ provider: "openai", apiKey, apiBase: `${baseURL}/` });
    const { data } = await api.embed({ model, input: texts });
    return vectors(data.map(({ embedding }) => embedding));
  },
  "Continue, cohere reranking": async () => {
    const api = constructLlmApi({ provider: "cohere", apiKey, apiBase: `${baseURL}/` });
    return best((await api.rerank({ model, query, documents })).data);
  },
  "Vercel AI SDK, openai": async () => {
    const { embeddings } = await embedMany({
      model: createOpenAI({ apiKey, baseURL }).embedding(model),
      values: texts,
    });
    return vectors(embeddings);
  },
  "Vercel AI SDK, openai-compatible": async () => {
    const provider = createOpenAICompatible({ name: "code-context", apiKey, baseURL });
    const { embeddings } = await embedMany({ model: provider.embeddingModel(model), values: texts });
    return vectors(embeddings);
  },
  "Vercel AI SDK, cohere embedding": async () => {
    const provider = createCohere({ apiKey, baseURL: `${url}/v2` });
    const { embeddings } = await embedMany({ model: provider.embedding(model), values: texts });
    return vectors(embeddings);
  },
  "Vercel AI SDK, cohere reranking": async () => {
    const provider = createCohere({ apiKey, baseURL: `${url}/v2` });
    const { ranking } = await rerank({ model: provider.reranking(model), documents, query });
    return ranking[0]?.originalIndex === 1;
  },
};

for (const [name, call] of Object.entries(CALLS)) {
  const outcome = await call().catch((error) => (error instanceof Error ? error.message.slice(0, 300) : String(error)));
  console.log(`${outcome === true ? "ok    " : "FAILED"}  ${name}${outcome === true ? "" : `: ${String(outcome)}`}`);
  if (outcome !== true) process.exitCode = 1;
}
