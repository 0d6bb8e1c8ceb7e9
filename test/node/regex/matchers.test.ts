import { Hono } from "hono";
import { getCookie } from "hono/cookie";
import { describe, expect, it, vi } from "vitest";
import { IgnoreRules } from "../../../src/cli/indexing/ignore-rules.ts";
import { readEvents } from "../../../src/interface/client/sse.ts";
import { parseJson } from "../../../src/interface/client/failures.ts";
import { readRetryAfterMs } from "../../../src/interface/client/waits.ts";
import { parseRetryAfterMs, postJson } from "../../../src/engines/embedding/http.ts";
import { UpstreamError } from "../../../src/engines/embedding/errors.ts";
import { sourceOf } from "../../../src/service/gate/source.ts";
import { parseLfsPointer } from "../../../src/engines/git/lfs.ts";
import { PacketReader } from "../../../src/engines/git/wire/pkt-line.ts";
import { checkRemoteUrl } from "../../../src/engines/git/wire/url.ts";
import { visible, visibleHtml } from "../../../src/lib/display.ts";
import { compileGlobs } from "../../../src/lib/globs.ts";
import { readDelivery } from "../../../src/service/hooks/payload.ts";
import { contentLanguage, detectLanguage } from "../../../src/engines/parsing/detect.ts";
import { SourceText } from "../../../src/engines/parsing/source-text.ts";
import { splitPath } from "../../../src/engines/search/traits.ts";
import { parseQuery } from "../../../src/engines/search/query.ts";
import { scanTerms } from "../../../src/engines/search/scanner.ts";
import { parseSelector } from "../../../src/service/revisions/selectors.ts";
import { parseSearchPlaces } from "../../../src/engines/snapshot/search-places.ts";
import { bearerOf, deriveCredentialKey, parseCredential } from "../../../src/service/tenancy/credentials.ts";
import { normalizeRepo } from "../../../src/lib/repo.ts";
import { checkEmail } from "../../../src/service/users/email.ts";
import { parseCode } from "../../../src/service/users/tokens.ts";

const MEGABYTE = 1_000_000;
const MAX_SECONDS = 5;
/** Four times the input takes a quadratic matcher 16 times as long. */
const MAX_GROWTH = 12;
/** What the clock and the garbage collector may add to a short measurement. */
const SLACK_SECONDS = 0.15;

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const key = deriveCredentialKey(Buffer.alloc(32, 1).toString("base64"));
const globs = compileGlobs(["**/a*a/**/b"], { field: "paths" });
const headers = (value: string) => ({ get: () => value });
const terms = { word: () => undefined, whole: () => undefined };

async function drainEvents(text: string): Promise<void> {
  for await (const data of readEvents(new Response(text).body!)) expect(data).toBeDefined();
}

/** What the dashboard reads of a request, as an app of its own. Not plain imports: the files' types are those of the Workers runtime. */
async function openDashboard(): Promise<Hono> {
  const { readFields, wantsJson } = await vi.importActual<{
    readFields: (c: unknown) => Promise<{ text(name: string): string; lines(name: string): string[] }>;
    wantsJson: (c: unknown) => boolean;
  }>("../../../src/workers/site/app/answers.tsx");
  const { cursorOf } = await vi.importActual<{ cursorOf: (c: unknown, name: string) => string | undefined }>(
    "../../../src/workers/site/views/pager.tsx",
  );
  return new Hono().all("/", async (c) => {
    getCookie(c, "cc_session");
    const fields = await readFields(c);
    return c.json([wantsJson(c), cursorOf(c, "before"), fields.text("a"), fields.lines("a")]);
  });
}
const dashboard = openDashboard();

async function ask(init: RequestInit, query = ""): Promise<void> {
  const app = await dashboard;
  app.onError((error) => {
    throw error;
  });
  await app.request(`/${query}`, init);
}

const form = (type: string, body: string) => ask({ method: "POST", headers: { "Content-Type": type }, body });

/** Reads a provider's answer of this status and text. */
async function answerOf(text: string, status = 200): Promise<void> {
  const signal = new AbortController().signal;
  const context = { fetch: async () => new Response(text, { status }), signal };
  const limits = { maxResponseBytes: 8 * MEGABYTE, now: () => 0 };
  await postJson(context, { url: "http://localhost", apiKey: "key", body: {}, ...limits }).catch((error: unknown) =>
    expect(error).toBeInstanceOf(UpstreamError),
  );
}

const nested = (text: string) => "[".repeat(text.length) + "]".repeat(text.length);
const gitlabPush = new Headers({ "X-Gitlab-Event": "Push Hook" });
const giteaPush = new Headers({ "X-Gitea-Event": "push" });

async function drainPackets(bytes: Uint8Array, readBytes: number): Promise<void> {
  let at = 0;
  const packets = new PacketReader({
    read: async () => (at < bytes.length ? bytes.subarray(at, (at += readBytes)) : undefined),
    cancel: () => undefined,
    cutOff: (where: string) => new Error(where),
  } as unknown as ConstructorParameters<typeof PacketReader>[0]);
  while ((await packets.read()).kind !== "eof");
}

/** Matchers and parsers with the unit whose repetition costs them most. A matcher may throw: refusing is an answer. */
const MATCHERS: [name: string, unit: string, run: (text: string) => unknown][] = [
  ["globs", "a", globs],
  ["globs of folders", "a/", globs],
  ["SSE: lines", "data:\n", drainEvents],
  ["SSE: one line", "d", drainEvents],
  ["SSE: carriage returns", "\r", drainEvents],
  ["pkt-line: empty packets", "0004", (text) => drainPackets(encode(text), 64)],
  ["pkt-line: one long packet in small reads", "fff0".padEnd(65_520, "x"), (text) => drainPackets(encode(text), 512)],
  ["LFS pointer", "ext-0-a\n", (text) => parseLfsPointer(encode(text))],
  ["remote URL", ".", (text) => checkRemoteUrl(`https://a${text}`, { allowLocal: false, hosts: undefined })],
  ["shebang", " -a=", (text) => detectLanguage("script", encode(`#!${text}`))],
  ["shebang: digits and dots", "1.", (text) => detectLanguage("script", encode(`#!/bin/${text}x`))],
  ["language of a long name", "a.", (text) => detectLanguage(text)],
  ["C or C++", "/*\n", (text) => contentLanguage("c", encode(text))],
  ["line index: empty lines", "\n", (text) => new SourceText(encode(text))],
  ["line index: wide characters", "é\n", (text) => new SourceText(encode(text))],
  ["encoding: late invalid byte", "a", (text) => new SourceText(Buffer.from(`${text}\u{ff}`, "latin1"))],
  ["terms", "Aa1_", (text) => scanTerms(text, terms)],
  ["terms: one word", "a", (text) => scanTerms(text, terms)],
  ["query: open quotes", '"a ', (text) => parseQuery({ query: text })],
  ["query: path filters", "path:a ", (text) => parseQuery({ query: text })],
  ["query: stack frames", 'File "a", line 1\n', (text) => parseQuery({ query: text })],
  ["paths", "a/", splitPath],
  ["JSON: depth", "[", parseJson],
  ["manifest JSON: depth", '{"segments":[', parseSearchPlaces],
  ["hook: JSON depth", "[", (text) => readDelivery("github", new Headers(), encode(text))],
  [
    "hook: ref",
    "a",
    (text) =>
      readDelivery(
        "github",
        new Headers({ "X-GitHub-Event": "push" }),
        encode(JSON.stringify({ ref: `refs/heads/${text}`, after: "0".repeat(40) })),
      ),
  ],
  [
    "hook: form",
    "a=%7B&",
    (text) =>
      readDelivery("github", new Headers({ "Content-Type": "application/x-www-form-urlencoded" }), encode(text)),
  ],
  ["GitLab's hook: depth", '{"project":', (text) => readDelivery("gitlab", gitlabPush, encode(text))],
  ["GitLab's hook: fields", '"ref":"a",', (text) => readDelivery("gitlab", gitlabPush, encode(`{${text}"after":1}`))],
  [
    "Gitea's hook: default branch",
    "a ",
    (text) => readDelivery("gitea", giteaPush, encode(JSON.stringify({ repository: { default_branch: text } }))),
  ],
  ["Gitea's hook: event", "a", (text) => readDelivery("gitea", new Headers({ "X-Gitea-Event": text }), encode("{}"))],
  ["selector: repository", "a/", (text) => parseSelector({ repo: text })],
  ["selector: ID", "0-", (text) => parseSelector({ workspaceId: text })],
  ["dashboard: cookies", "a=%2;", (text) => ask({ headers: { Cookie: text } })],
  ["dashboard: one cookie", "cc_session=", (text) => ask({ headers: { Cookie: text } })],
  ["dashboard: Accept", "text/", (text) => ask({ headers: { Accept: text } })],
  ["dashboard: cursor", "0-", (text) => ask({}, `?before=${text}`)],
  ["dashboard: parameters", "before=%2&", (text) => ask({}, `?${text}`)],
  ["dashboard: form", "a=%0A&", (text) => form("application/x-www-form-urlencoded", text)],
  ["dashboard: JSON", "[", (text) => form("application/json", text)],
  ["dashboard: content type", ";", (text) => form(`application/json${text}`, "{}")],
  ["dashboard: multipart", "--a\r\n", (text) => form("multipart/form-data; boundary=a", text)],
  ["provider: depth of an answer", "[", (text) => answerOf(nested(text))],
  ["provider: depth of an error", "[", (text) => answerOf(`{"error":${nested(text)}}`)],
  ["provider: text of an error", "Bearer ", (text) => answerOf(JSON.stringify({ error: text }))],
  ["provider: text of a refusal", "//a", (text) => answerOf(text, 400)],
  ["repository's identity", "a/", (text) => normalizeRepo(`https://h.org/${text}`)],
  ["e-mail address", "a.", (text) => checkEmail(`a@${text}!`)],
  ["sign-in code", "1 ", parseCode],
  ["client address", ":", sourceOf],
  ["client address: zones", "%", sourceOf],
  ["Retry-After of a provider", "1", (text) => parseRetryAfterMs(`${text}x`, 0)],
  ["Retry-After of a provider: date", "(", (text) => parseRetryAfterMs(text, 0)],
  ["Retry-After of the service", " ", (text) => readRetryAfterMs(headers(`${text}x`), 0)],
  ["Authorization header", " ", (text) => bearerOf(`Bearer ${text},`)],
  ["Authorization header: credential", "a", (text) => bearerOf(`Bearer ${text} ,`)],
  ["credential", "cc_live_", (text) => parseCredential(text, "api_key", key)],
  ["text for a terminal", "\u001b", visible],
  ["text for a page", '<textarea title="', visibleHtml],
];

async function secondsOf(run: (text: string) => unknown, text: string): Promise<number> {
  const before = process.cpuUsage();
  try {
    await run(text);
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

describe("a megabyte of the worst input", () => {
  it.each(MATCHERS)("is read in linear time: %s", async (_name, unit, run) => {
    const text = unit.repeat(Math.ceil(MEGABYTE / unit.length));
    const excessSeconds = async () => {
      const quarter = await secondsOf(run, text.slice(0, MEGABYTE / 4));
      const whole = await secondsOf(run, text);
      // V8's own parser makes a million nested arrays of brackets, which are collected in the larger measurement only.
      const parsed = unit.endsWith("[") ? await secondsOf(JSON.parse, nested(text)) : 0;
      return whole - Math.min(MAX_GROWTH * quarter + parsed + SLACK_SECONDS, MAX_SECONDS);
    };
    const excess = await excessSeconds();
    // Twice, so that the collection of what other files of this process have left is no finding.
    expect(excess < 0 ? excess : await excessSeconds()).toBeLessThan(0);
  });

  it("in an ignore file, or a path that one is tried on", () => {
    const started = process.cpuUsage();
    const rules = new IgnoreRules();
    rules.add("", "*a*a*a*a*b\n**/a/**/a/**/b\n", ".gitignore");
    expect(rules.ignores("a/".repeat(500))).toBe(false);
    expect(rules.ignores("a".repeat(4_000))).toBe(false);
    rules.add("", "[{*\\\n".repeat(20_000), ".gitignore");
    expect(rules.ignores("a")).toBe(false);
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(MAX_SECONDS);
  });
});
