import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OverlayResponse, SearchResponse } from "../../src/contract/index.ts";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { api, newTenant, service, type TestTenant } from "./support/service.ts";

let repo: GitRepo;
let git: GitBackend;
let tenant: TestTenant;

beforeAll(async () => {
  repo = new GitRepo();
  repo.files({
    "src/store.ts": "export class Store {\n  close(now: number) {\n    return evict(this, now);\n  }\n}\n",
    "src/evict.ts": "export function evict(store: object, now: number) {\n  return now;\n}\n",
  });
  repo.commit();
  git = await startGitBackend(repo.root);
  tenant = await newTenant();
  const body = { workspaceId: tenant.workspaceId, source: { type: "git", url: git.url("repo") } };
  expect((await api("/index", { key: tenant.workerToken, body })).status).toBe(200);
});
afterAll(async () => {
  await git.close();
  repo.remove();
});

const send = (files: object[], more: object = {}) =>
  api("/overlays", {
    key: tenant.apiKey,
    body: { workspaceId: tenant.workspaceId, base: repo.head(), files, ...more },
  });

/** Requests of one overlay before a busy service counts as a failure. */
const MAX_TRIES = 5;

async function overlayOf(...files: object[]): Promise<string> {
  let response = await send(files);
  // What a client does where the indexers are busy: the same request continues where the last one was.
  for (let tries = 1; response.status === 503 && tries < MAX_TRIES; tries++) {
    await setTimeout(Number(response.headers.get("retry-after")) * 1_000);
    response = await send(files);
  }
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const { overlay, expiresAt } = OverlayResponse.parse(JSON.parse(text));
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 3_500_000);
  return overlay;
}

const EDIT = {
  path: "src/store.ts",
  text: "export class Store {\n  drain(now: number) {\n    return evict(this, now);\n  }\n}\n",
};

describe("edits that are not pushed", () => {
  it("are found by every question that names the overlay, and by no other", async () => {
    const overlay = await overlayOf(EDIT, { path: "src/new.ts", text: "export const drained = new Set();\n" });
    const ask = async (path: string, query: Record<string, string>, key = tenant.apiKey) => {
      const response = await api(`${path}?${new URLSearchParams(query).toString()}`, { key });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    expect(await ask("/symbols", { name: "Store.drain", overlay })).toMatchObject({
      status: 200,
      body: { symbols: [{ path: "src/store.ts", startLine: 2 }], indexes: [{ gitSha: repo.head() }] },
    });
    expect(await ask("/symbols", { name: "Store.drain" })).toMatchObject({ status: 404 });
    expect(await ask("/references", { name: "evict", relation: "callers", overlay })).toMatchObject({
      body: { references: [{ path: "src/store.ts", line: 3, enclosing: "Store.drain" }] },
    });
    expect(await ask("/file", { path: "src/new.ts", overlay })).toMatchObject({ body: { text: expect.any(String) } });
    const searched = await api("/search", { key: tenant.apiKey, body: { query: "drained set", overlay } });
    expect(SearchResponse.parse(await searched.json()).results[0]).toMatchObject({ path: "src/new.ts" });
    const grep = await api("/grep", { key: tenant.apiKey, body: { pattern: "close\\(", overlay } });
    expect(await grep.json()).toMatchObject({ matches: [], complete: true });

    const other = await api("/tokens", { key: tenant.apiKey, body: { ttlSeconds: 600 } });
    const { token } = (await other.json()) as { token: string };
    expect(await ask("/symbols", { name: "evict", overlay }, token)).toMatchObject({
      status: 404,
      body: { code: "NO_INDEX", error: expect.stringContaining("send the edits again") },
    });
  });

  it("are asked over MCP as a ref", async () => {
    const overlay = await overlayOf(EDIT);
    const response = await fetch(`${service().apiUrl}/mcp`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${tenant.apiKey}`,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "find_symbol", arguments: { name: "drain", ref: overlay } },
      }),
    });
    const text = await response.text();
    expect(text).toContain("src/store.ts:2");
    expect(text).toContain("edits included");
  });

  it("of fifty agents at once are kept apart", async () => {
    const overlays = await Promise.all(
      Array.from({ length: 50 }, (_, n) => overlayOf({ path: "src/own.ts", text: `export const agent${n} = ${n};\n` })),
    );
    expect(new Set(overlays).size).toBe(50);
    const found = await Promise.all(
      overlays.map(async (overlay) => {
        const response = await api("/grep", { key: tenant.apiKey, body: { pattern: "agent\\d+", overlay } });
        const { matches } = (await response.json()) as { matches: { text: string }[] };
        return matches.map(({ text }) => text);
      }),
    );
    expect(found).toEqual(overlays.map((_, n) => [`export const agent${n} = ${n};`]));
  });

  it("are refused with what is wrong with them", async () => {
    const refused = async (files: object[], more?: object) => {
      const response = await send(files, more);
      return { status: response.status, ...((await response.json()) as { code: string; error: string }) };
    };
    expect(await refused([{ path: "../a", text: "" }])).toMatchObject({ status: 400, code: "INVALID_BODY" });
    expect((await refused([{ path: "../a", text: "" }])).error).toContain("files");
    expect((await refused([EDIT, EDIT])).error).toContain("each path once");
    expect(await refused([EDIT], { base: "nonsense" })).toMatchObject({ status: 404, code: "NO_INDEX" });
    expect(await refused([EDIT], { workspaceId: crypto.randomUUID() })).toMatchObject({ code: "NO_WORKSPACE" });
    expect(await refused([EDIT], { workspaceId: undefined })).toMatchObject({ code: "INVALID_SELECTOR" });
    expect(await refused([{ path: "a", text: "x".repeat(5_000_000) }])).toMatchObject({ code: "INPUT_TOO_LARGE" });
    const many = Array.from({ length: 1_001 }, (_, n) => ({ path: `f${n}`, text: null }));
    expect(await refused(many)).toMatchObject({ code: "INVALID_BODY" });
    const both = await api(`/symbols?name=evict&ref=main&overlay=${await overlayOf(EDIT)}`, { key: tenant.apiKey });
    expect(await both.json()).toMatchObject({ code: "INVALID_SELECTOR" });
  });
});
