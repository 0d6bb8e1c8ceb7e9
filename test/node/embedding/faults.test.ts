import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { withDeadline } from "../../../src/engines/embedding/call.ts";
import {
  createEmbedder,
  createReranker,
  readEmbedConfig,
  readRerankConfig,
  UpstreamError,
  type Embedder,
  type ProviderDeps,
  type Reranker,
} from "../../../src/engines/embedding/index.ts";
import { startModelServer, type Fault, type ModelApi, type ModelServer } from "../../support/model-server.ts";

const KEY = "sk-test-0123456789abcdef";
const MODEL = "secret-model-name-7b";
let server: ModelServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Retries wait no time here; what they would have waited is written down. */
function patientDeps(waits: number[] = []): ProviderDeps {
  return {
    fetch: (url, init) => fetch(url, init),
    random: () => 0.5,
    sleep: async (ms) => {
      waits.push(ms);
    },
  };
}

async function setUp(
  api: ModelApi,
  options: { timeoutMs?: number; deps?: ProviderDeps; dimension?: number } = {},
): Promise<{ embedder: Embedder; reranker: Reranker | undefined; server: ModelServer }> {
  const started = await startModelServer({ api, apiKey: KEY });
  server = started;
  const deps = options.deps ?? patientDeps();
  const shared = { UPSTREAM_TIMEOUT_MS: options.timeoutMs ?? 29_000 };
  const embed = { EMBED_PROVIDER: api, EMBED_BASE_URL: started.baseUrl, EMBED_API_KEY: KEY, EMBED_MODEL: MODEL };
  const rerank = { RERANK_PROVIDER: api, RERANK_BASE_URL: started.baseUrl, RERANK_API_KEY: KEY, RERANK_MODEL: MODEL };
  const embedder = createEmbedder(readEmbedConfig({ ...embed, ...shared, EMBED_DIMENSION: options.dimension }), deps);
  const reranker = api === "openai" ? undefined : createReranker(readRerankConfig({ ...rerank, ...shared }), deps);
  return { embedder: embedder as Embedder, reranker, server: started };
}

async function failure(promise: Promise<unknown>): Promise<UpstreamError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UpstreamError);
  return error as UpstreamError;
}

/** Nothing a tenant could see, nor a careless log line, tells who is behind the service. */
function expectDiscreet(error: UpstreamError, api: string): void {
  const seen = [
    error.message,
    String(error),
    JSON.stringify(error),
    inspect(error, { depth: 5 }).split("\n    at ")[0],
  ].join("\n");
  for (const secret of [KEY, MODEL, "127.0.0.1", "http:", api])
    expect(seen.toLowerCase()).not.toContain(secret.toLowerCase());
  expect(error.detail ?? "").not.toContain(KEY);
  expect(error.cause).toBeUndefined();
}

const embedAll = (embedder: Embedder): Promise<unknown> => embedder.embed(["a", "b", "c"], { inputType: "document" });

const UNUSABLE: Fault[] = [
  { kind: "html" },
  { kind: "cut-json" },
  { kind: "error-in-2xx" },
  { kind: "json", value: null },
  { kind: "json", value: [] },
  { kind: "json", value: { data: "no", results: {}, embeddings: [] } },
  { kind: "json", value: { data: [1, 2, 3], results: [1, 2, 3], embeddings: { float: [1, 2, 3] } } },
  { kind: "too-few" },
  { kind: "too-many" },
  { kind: "nan" },
  { kind: "infinity" },
  { kind: "padding", bytes: 4 << 20 },
  { kind: "redirect", location: "http://127.0.0.1:9/v1/embeddings" },
];
const UNUSABLE_INDEXED: Fault[] = [{ kind: "duplicate-index" }, { kind: "missing-index" }];
const UNUSABLE_VECTORS: Fault[] = [{ kind: "wrong-dimension" }, { kind: "inconsistent-dimension" }];

/** An answer that cannot be used is asked for once more; a refusal, and vectors of another length than before, are not. */
const asksOf = ({ kind }: Fault) => (kind === "redirect" || kind.endsWith("-dimension") ? 1 : 2);

describe.each(["openai", "voyage", "cohere", "jina"] as const)("%s, unusable answers", (api) => {
  const faults = [...UNUSABLE, ...UNUSABLE_VECTORS, ...(api === "cohere" ? [] : UNUSABLE_INDEXED)];
  it.each(faults)("embeddings: $kind is UPSTREAM_ERROR, asked twice at most", async (fault) => {
    const { embedder, server } = await setUp(api, { dimension: 8 });
    server.fault(fault);
    const error = await failure(embedAll(embedder));
    expect(error).toMatchObject({ code: "UPSTREAM_ERROR", retryable: false });
    expect(server.requests).toHaveLength(asksOf(fault));
    expectDiscreet(error, api);
  });

  if (api === "openai") return;
  it.each([...UNUSABLE, ...UNUSABLE_INDEXED])(
    "reranking: $kind is UPSTREAM_ERROR, asked twice at most",
    async (fault) => {
      const { reranker, server } = await setUp(api);
      server.fault(fault);
      const error = await failure((reranker as Reranker).rerank("q", ["a", "b", "c"]));
      expect(error).toMatchObject({ code: "UPSTREAM_ERROR", retryable: false });
      expect(server.requests).toHaveLength(asksOf(fault));
      expectDiscreet(error, api);
    },
  );
});

describe("dimensions", () => {
  it("may not change from one answer to the next", async () => {
    const { embedder, server } = await setUp("openai");
    await embedAll(embedder);
    server.fault({ kind: "wrong-dimension" });
    expect(await failure(embedAll(embedder))).toMatchObject({ code: "UPSTREAM_ERROR" });
    expect(embedder.dimension).toBe(8);
  });

  it("may not be learnt from an answer that contradicts itself", async () => {
    const { embedder, server } = await setUp("openai");
    server.fault({ kind: "inconsistent-dimension" });
    await failure(embedAll(embedder));
    expect(embedder.dimension).toBeUndefined();
  });

  it("are asked for again after a probe that failed", async () => {
    const { embedder, server } = await setUp("openai");
    server.fault({ kind: "html" }, 2);
    await failure(embedder.probeDimension());
    expect(await embedder.probeDimension()).toBe(8);
  });
});

describe("statuses", () => {
  it.each([400, 401, 403, 404, 422])("%d is UPSTREAM_ERROR and final", async (status) => {
    const { embedder, server } = await setUp("voyage");
    server.fault({ kind: "status", status });
    const error = await failure(embedAll(embedder));
    expect(error).toMatchObject({ code: "UPSTREAM_ERROR", status, retryable: false });
    expect(server.requests).toHaveLength(1);
    expectDiscreet(error, "voyage");
    expect(error.detail).toContain(`status ${status}`);
  });

  it.each([408, 429, 500, 502, 503, 504, 529])("%d is tried again, then UPSTREAM_ERROR", async (status) => {
    const { embedder, server } = await setUp("jina");
    server.fault({ kind: "status", status });
    const error = await failure(embedAll(embedder));
    expect(error).toMatchObject({ code: "UPSTREAM_ERROR", status, retryable: true });
    expect(server.requests).toHaveLength(3);
    expectDiscreet(error, "jina");
  });

  it("a wrong key is UPSTREAM_ERROR", async () => {
    const started = await startModelServer({ api: "cohere", apiKey: "another" });
    server = started;
    const vars = { EMBED_PROVIDER: "cohere", EMBED_BASE_URL: started.baseUrl, EMBED_API_KEY: KEY };
    const embedder = createEmbedder(readEmbedConfig(vars), patientDeps()) as Embedder;
    const error = await failure(embedAll(embedder));
    expect(error).toMatchObject({ code: "UPSTREAM_ERROR", status: 401 });
    expectDiscreet(error, "cohere");
  });
});

describe("retries", () => {
  it("cure one garbled answer", async () => {
    const { embedder, server } = await setUp("openai");
    server.fault({ kind: "cut-json" }, 1);
    await expect(embedAll(embedder)).resolves.toMatchObject({ tokens: 3 });
    expect(server.requests).toHaveLength(2);
  });

  it("wait at most a minute for a longer Retry-After, within the deadline", async () => {
    const waits: number[] = [];
    const { embedder, server } = await setUp("openai", { deps: patientDeps(waits) });
    server.fault({ kind: "status", status: 429, retryAfter: "3600" }, 1);
    await embedder.embed(["a"], { inputType: "document", patienceMs: 300_000 });
    expect(waits).toEqual([60_000 * 1.125]);
  });

  it("follow an attempt that hangs, within the deadline", async () => {
    const { embedder, server } = await setUp("openai", { timeoutMs: 1_000 });
    server.fault({ kind: "hang" }, 1);
    await expect(embedder.embed(["a"], { inputType: "document", patienceMs: 60_000 })).resolves.toBeDefined();
    expect(await server.requests[0]?.aborted).toBe(true);
  });

  it("cure what passes", async () => {
    const { embedder, server } = await setUp("openai");
    server.fault({ kind: "status", status: 503 }, 1);
    server.fault({ kind: "reset" }, 1);
    await expect(embedAll(embedder)).resolves.toMatchObject({ tokens: 3 });
    expect(server.requests).toHaveLength(3);
  });

  it("are as many as the caller says", async () => {
    const { embedder, server } = await setUp("openai");
    server.fault({ kind: "status", status: 500 });
    await failure(embedder.embed(["a"], { inputType: "query", maxRetries: 0 }));
    expect(server.requests).toHaveLength(1);
    await failure(embedder.embed(["a"], { inputType: "query", maxRetries: 5 }));
    expect(server.requests).toHaveLength(7);
  });

  it("wait exponentially longer, with a cap", async () => {
    const waits: number[] = [];
    const { embedder, server } = await setUp("openai", { deps: patientDeps(waits), timeoutMs: 60_000 });
    server.fault({ kind: "status", status: 500 });
    await failure(embedder.embed(["a"], { inputType: "query", maxRetries: 7 }));
    expect(waits).toEqual([281.25, 562.5, 1_125, 2_250, 4_500, 9_000, 9_000]);
  });

  it.each([
    ["2", 2_000],
    [new Date(1_700_000_003_000).toUTCString(), 3_000],
  ])("wait as long as Retry-After %s says, and a little longer", async (retryAfter, expectedMs) => {
    const waits: number[] = [];
    const deps = { ...patientDeps(waits), now: () => 1_700_000_000_000 };
    const { embedder, server } = await setUp("openai", { deps });
    server.fault({ kind: "status", status: 429, retryAfter }, 1);
    await embedAll(embedder);
    expect(waits).toEqual([expectedMs * 1.125]);
  });

  it("do not wait beyond the deadline: the error is thrown at once, with retryAfterMs", async () => {
    const { embedder, server } = await setUp("openai", { timeoutMs: 5_000 });
    server.fault({ kind: "status", status: 429, retryAfter: "30" });
    const error = await failure(embedAll(embedder));
    expect(error).toMatchObject({ code: "UPSTREAM_ERROR", status: 429, retryable: true, retryAfterMs: 30_000 });
    expect(server.requests).toHaveLength(1);
  });
});

describe("connections", () => {
  it("refused is UPSTREAM_UNREACHABLE", async () => {
    const { embedder, server } = await setUp("openai");
    await server.close();
    const error = await failure(embedAll(embedder));
    expect(error).toMatchObject({ code: "UPSTREAM_UNREACHABLE", retryable: true });
    expectDiscreet(error, "openai");
  });

  it.each(["reset", "reset-mid-body"] as const)("%s is UPSTREAM_UNREACHABLE, after retries", async (kind) => {
    const { embedder, server } = await setUp("openai");
    server.fault({ kind });
    const error = await failure(embedAll(embedder));
    expect(error).toMatchObject({ code: "UPSTREAM_UNREACHABLE", retryable: true });
    expect(server.requests).toHaveLength(3);
    expectDiscreet(error, "openai");
  });

  it("to a name that does not exist is UPSTREAM_UNREACHABLE", async () => {
    const vars = { EMBED_PROVIDER: "openai", EMBED_BASE_URL: "http://models.invalid/v1" };
    const embedder = createEmbedder(readEmbedConfig(vars), patientDeps()) as Embedder;
    const error = await failure(embedAll(embedder));
    expect(error.code).toBe("UPSTREAM_UNREACHABLE");
    expect(JSON.stringify(error)).not.toContain("models.invalid");
  });
});

describe("deadline and abort", () => {
  it.each(["hang", "hang-mid-body"] as const)("%s is UPSTREAM_TIMEOUT, and the call is given up", async (kind) => {
    const { embedder, server } = await setUp("openai", { timeoutMs: 1_000 });
    server.fault({ kind });
    const error = await failure(embedAll(embedder));
    expect(error).toMatchObject({ code: "UPSTREAM_TIMEOUT" });
    expect(await server.requests[0]?.aborted).toBe(true);
    expectDiscreet(error, "openai");
  });

  it("is one for all retries together", async () => {
    const { embedder, server } = await setUp("openai", { timeoutMs: 1_500 });
    server.fault({ kind: "status", status: 500 }, 1);
    server.fault({ kind: "hang" });
    expect(await failure(embedAll(embedder))).toMatchObject({ code: "UPSTREAM_TIMEOUT" });
    expect(server.requests).toHaveLength(2);
  });

  it.each(["hang", "hang-mid-body"] as const)("the caller's abort ends the upstream call at once: %s", async (kind) => {
    const { embedder, server } = await setUp("openai");
    server.fault({ kind });
    const controller = new AbortController();
    const failed = failure(embedder.embed(["a"], { inputType: "document", signal: controller.signal }));
    await server.received(1);
    controller.abort();
    expect(await failed).toMatchObject({ code: "ABORTED", retryable: false });
    expect(await server.requests[0]?.aborted).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it("an abort before the start asks nothing", async () => {
    const { reranker, server } = await setUp("voyage");
    const failed = failure((reranker as Reranker).rerank("q", ["a"], { signal: AbortSignal.abort() }));
    expect(await failed).toMatchObject({ code: "ABORTED" });
    expect(server.requests).toHaveLength(0);
  });

  it("the first failure of a split request gives up the other calls", async () => {
    const { embedder, server } = await setUp("cohere");
    server.fault({ kind: "hang" }, 1);
    server.fault({ kind: "status", status: 400 }, 1);
    const inputs = Array.from({ length: 150 }, (_, i) => `text ${i}`);
    expect(await failure(embedder.embed(inputs, { inputType: "document" }))).toMatchObject({ status: 400 });
    expect(await server.requests[0]?.aborted).toBe(true);
  });

  it("a probe ends with its caller", async () => {
    const { embedder, server } = await setUp("openai");
    server.fault({ kind: "hang" }, 1);
    const controller = new AbortController();
    const failed = failure(embedder.probeDimension({ signal: controller.signal }));
    await server.received(1);
    controller.abort();
    expect(await failed).toMatchObject({ code: "ABORTED" });
    expect(await embedder.probeDimension()).toBe(8);
  });
});

describe("mistakes of ours", () => {
  it("are neither retried nor taken for the upstream's", async () => {
    let attempts = 0;
    const work = withDeadline(patientDeps(), { timeoutMs: 1_000, maxRetries: 3, signal: undefined }, (context) =>
      context.retrying(async () => {
        attempts += 1;
        throw new RangeError("a bug");
      }),
    );
    await expect(work).rejects.toThrow(RangeError);
    expect(attempts).toBe(1);
  });
});
