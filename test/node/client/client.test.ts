import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  CodeContextClient,
  CodeContextError,
  type ClientOptions,
  type WaitEvent,
} from "../../../src/interface/client/index.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;
const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

/** A real server, and a client whose clock only moves when it waits. */
async function setUp(handler: Handler, options: Partial<ClientOptions> = {}) {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => handler(request, response, Buffer.concat(parts).toString()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const waits: number[] = [];
  const events: WaitEvent[] = [];
  let nowMs = 1_000_000_000_000;
  const client = new CodeContextClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/`,
    apiKey: "key",
    workerToken: "token",
    now: () => nowMs,
    random: () => 0,
    sleep: async (ms) => {
      waits.push(ms);
      nowMs += ms;
    },
    onWait: (event) => events.push(event),
    ...options,
  });
  return { client, waits, events };
}

function reply(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.sendDate = false;
  response.writeHead(status, { "Content-Type": "application/json", "X-Request-Id": "req-1", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

const CHECK = { ok: true, fingerprint: "fp-1", dimension: 2 };

describe("CodeContextClient", () => {
  it("sends the credential, the body and the version prefix of each route", async () => {
    const seen: string[] = [];
    const { client } = await setUp((request, response, body) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
      reply(response, 200, { ...CHECK, embeddings: [{ index: 0, vector: [1, 2] }], usage: { credits: 1 } });
    });
    await client.checkEmbed();
    const answer = await client.embed({ input: ["a"] });
    expect(answer.embeddings).toEqual([{ index: 0, vector: [1, 2] }]);
    expect(seen).toEqual(["GET /api/v1/embed Bearer key ", 'POST /api/v1/embed Bearer key {"input":["a"]}']);
  });

  it("throws one error class with code, status, request id and details", async () => {
    const { client } = await setUp((_, response) =>
      reply(response, 400, { ok: false, code: "INVALID_BODY", error: "input: bad", details: { issues: [1] } }),
    );
    const error = await client.embed({ input: [] }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(CodeContextError);
    expect(error).toMatchObject({
      code: "INVALID_BODY",
      status: 400,
      requestId: "req-1",
      message: "input: bad",
      details: { issues: [1] },
    });
  });

  it("waits for Retry-After on 429, doubles on repetition, starts again after a success", async () => {
    const answers = [429, 429, 429, 200, 429, 200];
    const { client, waits } = await setUp((_, response) => {
      const status = answers.shift();
      if (status === 200) reply(response, 200, CHECK);
      else
        reply(
          response,
          429,
          { ok: false, code: "RATE_LIMITED", error: "slow", retryAfterSec: 3 },
          { "Retry-After": "3" },
        );
    });
    await client.checkEmbed();
    await client.checkEmbed();
    expect(waits).toEqual([3_000, 6_000, 12_000, 3_000]);
  });

  it("gives up after the last retry and keeps later calls waiting", async () => {
    const { client, waits } = await setUp(
      (_, response) => reply(response, 429, { ok: false, code: "RATE_LIMITED", error: "slow", retryAfterSec: 9 }),
      { maxRetries: 1 },
    );
    await expect(client.checkEmbed()).rejects.toMatchObject({ code: "RATE_LIMITED", retryAfterSec: 9 });
    expect(waits).toEqual([9_000]);
    await expect(client.checkEmbed()).rejects.toMatchObject({ code: "RATE_LIMITED" });
    expect(waits[1]).toBe(18_000);
  });

  it("hands a wait longer than allowed back to the caller", async () => {
    const { client, waits } = await setUp((_, response) =>
      reply(response, 429, { ok: false, code: "RATE_LIMITED", error: "slow" }, { "Retry-After": "2400" }),
    );
    await expect(client.index({ workspaceId: "w", source: { type: "git", url: "u" } })).rejects.toMatchObject({
      code: "RATE_LIMITED",
      retryAfterSec: 2_400,
    });
    expect(waits).toEqual([]);
  });

  it("does not wait for a quota that is used up", async () => {
    let calls = 0;
    const { client } = await setUp((_, response) => {
      calls++;
      reply(response, 429, { ok: false, code: "QUOTA_EXCEEDED", error: "used up" }, { "Retry-After": "1" });
    });
    await expect(client.embed({ input: ["a"] })).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(calls).toBe(1);
  });

  it("spreads requests when 10 % of the budget is left", async () => {
    const nowSec = 1_000_000_000;
    const { client, waits, events } = await setUp((_, response) =>
      reply(response, 200, CHECK, {
        "X-RateLimit-Limit": "100",
        "X-RateLimit-Remaining": "10",
        "X-RateLimit-Reset": String(nowSec + 60),
      }),
    );
    await client.checkEmbed();
    expect(waits).toEqual([]);
    await client.checkEmbed();
    expect(waits).toEqual([6_000]);
    expect(events[0]).toMatchObject({ reason: "slow-down", path: "/embed" });
  });

  it("tries reads again after a lost connection, but never starts a second index run", async () => {
    let calls = 0;
    const { client } = await setUp((request, response) => {
      calls++;
      if (calls === 1 || request.method === "POST") request.socket.destroy();
      else reply(response, 200, CHECK);
    });
    await client.checkEmbed();
    expect(calls).toBe(2);
    await expect(client.startIndex({ workspaceId: "w", source: { type: "git", url: "u" } })).rejects.toMatchObject({
      code: "NETWORK_ERROR",
    });
    expect(calls).toBe(3);
  });

  it("aborts at once, in flight and while waiting", async () => {
    const stop = new AbortController();
    const { client } = await setUp(() => stop.abort());
    await expect(client.checkEmbed({ signal: stop.signal })).rejects.toMatchObject({ code: "ABORTED" });

    const stopWait = new AbortController();
    const other = await setUp(
      (_, response) => reply(response, 503, { ok: false, code: "EMBED_UNAVAILABLE", error: "off" }),
      {
        onWait: () => stopWait.abort(),
        sleep: (_, signal) => new Promise((__, reject) => (signal?.aborted ? reject(new Error("stop")) : undefined)),
      },
    );
    await expect(other.client.checkEmbed({ signal: stopWait.signal })).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("times out", async () => {
    const { client } = await setUp(() => undefined, { timeoutMs: 30, maxRetries: 0 });
    await expect(client.checkEmbed()).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it("refuses an answer that is not the contract's", async () => {
    const { client } = await setUp((_, response) => reply(response, 200, "<html>proxy</html>"));
    await expect(client.usage()).rejects.toMatchObject({ code: "BAD_RESPONSE", status: 200, requestId: "req-1" });
    const gateway = await setUp((_, response) => reply(response, 418, "<html>teapot</html>"));
    await expect(gateway.client.usage()).rejects.toMatchObject({ code: "BAD_RESPONSE", status: 418 });
  });

  it("reports a changed embedding space, and rejects it if one is pinned", async () => {
    const fingerprints = ["fp-1", "fp-2"];
    const changes: unknown[] = [];
    const { client } = await setUp(
      (_, response) => reply(response, 200, { ...CHECK, fingerprint: fingerprints.shift() }),
      {
        onFingerprintChange: (change) => changes.push(change),
      },
    );
    await client.checkEmbed();
    await client.checkEmbed();
    expect(changes).toEqual([{ previous: "fp-1", current: "fp-2" }]);
    const pinned = await setUp((_, response) => reply(response, 200, CHECK), { pinnedFingerprint: "fp-0" });
    await expect(pinned.client.checkEmbed()).rejects.toMatchObject({
      code: "FINGERPRINT_CHANGED",
      details: { pinned: "fp-0", current: "fp-1" },
    });
  });

  it("reads a health document from a 503", async () => {
    const { client } = await setUp((_, response) =>
      reply(response, 503, { ok: false, status: "starting", version: "1", checks: {} }),
    );
    expect(await client.health()).toMatchObject({ ok: false, status: "starting" });
  });
});

describe("streamRun", () => {
  const status = (state: string, filesDone: number) =>
    JSON.stringify({ ok: true, runId: "r", state, progress: { filesDone, filesTotal: 3, phase: "indexing" } });

  it("takes a broken stream up again and tells each state once", async () => {
    let calls = 0;
    const { client } = await setUp((_, response) => {
      calls++;
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      if (calls === 1) {
        response.write(`: hello\n\nevent: progress\ndata: ${status("running", 1)}\n\ndata: {"ok"`);
        setTimeout(() => response.destroy(), 10);
      } else {
        response.write(`data: ${status("running", 1)}\r\n\r\ndata: ${status("running", 2)}\r`);
        response.end(`\n\r\nevent: done\ndata: ${status("succeeded", 3)}\n\n`);
      }
    });
    const seen: string[] = [];
    for await (const { state, progress } of client.streamRun("r")) seen.push(`${state} ${progress.filesDone}`);
    expect(seen).toEqual(["running 1", "running 2", "succeeded 3"]);
  });

  it("asks again where there is no stream, with a wait between", async () => {
    const states = [status("queued", 0), status("running", 1), status("failed", 1)];
    const { client, waits } = await setUp((_, response) => reply(response, 200, states.shift()));
    const seen: string[] = [];
    for await (const { state } of client.streamRun("r")) seen.push(state);
    expect(seen).toEqual(["queued", "running", "failed"]);
    expect(waits).toHaveLength(2);
  });
});
