import {
  BUILTIN_DEFAULT_DIMENSION,
  BUILTIN_MAX_DIMENSION,
  BUILTIN_MIN_DIMENSION,
  BUILTIN_MODELS,
} from "./builtin/embedder.ts";
import type { AiBinding, ProviderConfig, ProviderName } from "./types.ts";

/** Reads the `EMBED_*` and `RERANK_*` variables. Errors name the variable and the remedy, never the value of a key. */

const EMBED_PROVIDERS = ["builtin", "openai", "voyage", "cohere", "jina", "workers-ai", "none"] as const;
const RERANK_PROVIDERS = ["builtin", "voyage", "cohere", "jina", "workers-ai", "none"] as const;
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;
/** Longest vector that pgvector stores as half floats. */
const MAX_DIMENSION = 16_000;

type Vars = Record<string, unknown>;

/**
 * Reads the embedding provider from `EMBED_PROVIDER`, `EMBED_BASE_URL`, `EMBED_MODEL`, `EMBED_API_KEY`, `EMBED_DIMENSION`,
 * `EMBED_SPACE` and `UPSTREAM_TIMEOUT_MS`. Empty variables count as absent. Throws `Error` on an invalid value.
 */
export function readEmbedConfig(vars: Vars): ProviderConfig {
  const config = readProvider(vars, "EMBED", EMBED_PROVIDERS);
  const builtin = config.provider === "builtin";
  const dimension = readInteger(
    vars,
    "EMBED_DIMENSION",
    builtin ? BUILTIN_MIN_DIMENSION[config.model === "lexical" ? "lexical" : "terms"] : 1,
    builtin ? BUILTIN_MAX_DIMENSION : MAX_DIMENSION,
  );
  if (dimension !== undefined) config.dimension = dimension;
  else if (builtin) config.dimension = BUILTIN_DEFAULT_DIMENSION;
  const space = readText(vars, "EMBED_SPACE");
  if (space !== undefined) config.space = space;
  return config;
}

/** Reads the reranking provider from the `RERANK_*` variables and `UPSTREAM_TIMEOUT_MS`; otherwise like `readEmbedConfig`. */
export function readRerankConfig(vars: Vars): ProviderConfig {
  return readProvider(vars, "RERANK", RERANK_PROVIDERS);
}

function readProvider(vars: Vars, prefix: "EMBED" | "RERANK", allowed: readonly ProviderName[]): ProviderConfig {
  const name = readText(vars, `${prefix}_PROVIDER`) ?? "builtin";
  const provider = allowed.find((candidate) => candidate === name);
  if (provider === undefined) {
    throw new Error(`${prefix}_PROVIDER is not a known provider: set it to one of ${allowed.join(", ")}`);
  }
  const config: ProviderConfig = {
    provider,
    timeoutMs: readInteger(vars, "UPSTREAM_TIMEOUT_MS", 1, MAX_TIMEOUT_MS) ?? DEFAULT_TIMEOUT_MS,
  };
  const baseUrl = readBaseUrl(vars, `${prefix}_BASE_URL`);
  const model = readText(vars, `${prefix}_MODEL`);
  const apiKey = readApiKey(vars, `${prefix}_API_KEY`);
  if (baseUrl !== undefined) config.baseUrl = baseUrl;
  if (model !== undefined) config.model = model;
  if (provider === "builtin" && model !== undefined && !(BUILTIN_MODELS as readonly string[]).includes(model)) {
    throw new Error(`${prefix}_MODEL is no builtin model: set it to ${BUILTIN_MODELS.join(" or ")}, or leave it empty`);
  }
  if (apiKey !== undefined) config.apiKey = apiKey;
  const hosted = provider === "openai" || provider === "voyage" || provider === "cohere" || provider === "jina";
  if (hosted && baseUrl === undefined && apiKey === undefined) {
    throw new Error(
      `${prefix}_API_KEY is missing: provider ${provider} needs one, unless ${prefix}_BASE_URL names a server of your own`,
    );
  }
  return config;
}

function readText(vars: Vars, name: string): string | undefined {
  const value = vars[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" && typeof value !== "number") throw new Error(`${name} has to be text`);
  const text = String(value).trim();
  return text === "" ? undefined : text;
}

function readInteger(vars: Vars, name: string, min: number, max: number): number | undefined {
  const text = readText(vars, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new Error(`${name} has to be a whole number from ${min} to ${max}`);
  }
  return value;
}

function readBaseUrl(vars: Vars, name: string): string | undefined {
  const text = readText(vars, name);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new Error(`${name} is not an http(s) address: give it with its version, such as https://models.example/v1`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error(`${name} carries credentials: put the key into ${name.replace("BASE_URL", "API_KEY")} instead`);
  }
  if (url.search !== "" || url.hash !== "") throw new Error(`${name} has a query or fragment: leave it out`);
  return text.replace(/\/+$/, "");
}

function readApiKey(vars: Vars, name: string): string | undefined {
  const key = readText(vars, name);
  if (key !== undefined && !/^[\u0021-\u007e]+$/.test(key)) {
    throw new Error(`${name} holds characters no key has (spaces, line breaks or non-ASCII): paste it again`);
  }
  return key;
}

/** The Workers AI binding `AI`, if the Worker has one. Only provider `workers-ai` needs it. */
export function readAiBinding(vars: Vars): { ai?: AiBinding } {
  const ai = vars["AI"];
  return typeof ai === "object" && ai !== null && "run" in ai ? { ai: ai as AiBinding } : {};
}
