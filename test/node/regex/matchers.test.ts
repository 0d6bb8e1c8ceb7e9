import { describe, expect, it } from "vitest";
import { IgnoreRules } from "../../../src/cli/index/ignore-rules.ts";
import { printable } from "../../../src/cli/printable.ts";
import { readEvents } from "../../../src/client/sse.ts";
import { parseJson } from "../../../src/client/failures.ts";
import { readRetryAfterMs } from "../../../src/client/waits.ts";
import { parseRetryAfterMs } from "../../../src/embedding/http.ts";
import { sourceOf } from "../../../src/gate/source.ts";
import { parseLfsPointer } from "../../../src/git/lfs.ts";
import { PacketReader } from "../../../src/git/wire/pkt-line.ts";
import { checkRemoteUrl } from "../../../src/git/wire/url.ts";
import { compileGlobs } from "../../../src/globs.ts";
import { readDelivery } from "../../../src/hooks/payload.ts";
import { contentLanguage, detectLanguage } from "../../../src/parsing/detect.ts";
import { SourceText } from "../../../src/parsing/source-text.ts";
import { splitPath } from "../../../src/retrieval/paths.ts";
import { parseQuery } from "../../../src/retrieval/query.ts";
import { scanTerms } from "../../../src/retrieval/scanner.ts";
import { parseSearchPlaces } from "../../../src/snapshot/format/search-places.ts";
import { bearerOf, deriveCredentialKey, parseCredential } from "../../../src/tenancy/credentials.ts";
import { normalizeRepo } from "../../../src/tenancy/repo.ts";
import { checkEmail } from "../../../src/users/email.ts";
import { parseCode } from "../../../src/users/tokens.ts";

const MEGABYTE = 1_000_000;
const MAX_SECONDS = 5;
/** Four times the input takes a quadratic matcher 16 times as long. */
const MAX_GROWTH = 12;
/** What the clock and the garbage collector may add to a short measurement. */
const SLACK_SECONDS = 0.15;

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const key = deriveCredentialKey(Buffer.alloc(32, 1).toString("base64"));
const globs = compileGlobs(["**/a*a/**/b"]);
const headers = (value: string) => ({ get: () => value });
const terms = { word: () => undefined, whole: () => undefined };

async function drainEvents(text: string): Promise<void> {
  for await (const data of readEvents(new Response(text).body!)) expect(data).toBeDefined();
}

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
  ["text for a terminal", "\u001b", printable],
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
    const quarter = await secondsOf(run, text.slice(0, MEGABYTE / 4));
    const whole = await secondsOf(run, text);
    expect(whole).toBeLessThan(Math.min(MAX_GROWTH * quarter + SLACK_SECONDS, MAX_SECONDS));
  });

  it("in an ignore file, or a path that one is tried on", () => {
    const started = process.cpuUsage();
    const rules = new IgnoreRules();
    rules.add("", "*a*a*a*a*b\n**/a/**/a/**/b\n");
    expect(rules.ignores("a/".repeat(500))).toBe(false);
    expect(rules.ignores("a".repeat(4_000))).toBe(false);
    rules.add("", "[{*\\\n".repeat(20_000));
    expect(rules.ignores("a")).toBe(false);
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(MAX_SECONDS);
  });
});
