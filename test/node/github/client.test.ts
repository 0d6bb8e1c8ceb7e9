import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callGithub, githubOrigin } from "../../../src/service/github/client.ts";

const gitHosts = { allowLocal: true };
const TOKEN = "ghs_0123456789abcdef";

let server: Server;
let origin: string;
let answer: (path: string) => { status: number; headers?: Record<string, string>; body?: string } | undefined;
beforeAll(async () => {
  server = createServer((request, response) => {
    const given = answer(request.url ?? "");
    if (given) response.writeHead(given.status, given.headers).end(given.body);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const call = (timeoutMs = 5_000) =>
  callGithub({ fetch, gitHosts, timeoutMs }, { origin, method: "GET", path: "/app", token: TOKEN }).then(
    (value) => ({ value }),
    (error: unknown) => ({ status: (error as { status?: number }).status, message: (error as Error).message }),
  );

describe("a call of GitHub", () => {
  it("is answered with JSON, from the API of a GitHub Enterprise Server", async () => {
    answer = (path) => ({ status: 200, body: JSON.stringify({ path }) });
    expect(await call()).toEqual({ value: { path: "/api/v3/app" } });
  });

  it.each([
    ["a refusal", { status: 404, body: TOKEN }, 404],
    ["a redirect, which is not followed", { status: 302, headers: { Location: "http://127.0.0.1:1/" } }, 302],
    ["too many requests", { status: 403, headers: { "X-RateLimit-Remaining": "0" } }, 429],
    [
      "a secondary rate limit, which only the message tells",
      {
        status: 403,
        body: `{ "documentation_url": "https://docs.github.com/x", "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again." }`,
      },
      429,
    ],
    ["an App that may not", { status: 403, body: `{"message": "This installation has been suspended"}` }, 403],
    ["what is no JSON", { status: 200, body: `<html>${TOKEN}` }, 0],
    ["more than 4 MB", { status: 200, body: `"${"x".repeat(4 * 1024 * 1024)}"` }, 0],
  ])("fails with %s, and repeats nothing of it", async (_what, given, status) => {
    answer = () => given;
    const failed = await call();
    expect(failed).toMatchObject({ status });
    expect(JSON.stringify(failed)).not.toContain(TOKEN);
  });

  it("fails without an answer", async () => {
    answer = () => undefined;
    expect(await call(50)).toMatchObject({ status: 0, message: expect.stringContaining("did not answer") as string });
  });

  it("goes to allowed addresses only", async () => {
    const refused = callGithub({ fetch, gitHosts: { allowLocal: false } }, { origin, method: "GET", path: "/app" });
    await expect(refused).rejects.toMatchObject({ code: "URL_FORBIDDEN" });
  });
});

describe("the GitHub that a person names", () => {
  it.each([
    ["", "https://github.com"],
    ["github.com", "https://github.com"],
    ["https://www.github.com/acme", "https://github.com"],
    [" github.example.com ", "https://github.example.com"],
  ])("%j is %s", (named, expected) => {
    expect(githubOrigin(named, { allowLocal: false })).toBe(expected);
  });

  it.each(["http://github.example.com", "10.0.0.1", "localhost", "https://a:b@github.com", "git.internal"])(
    "%j is refused",
    (named) => {
      expect(() => githubOrigin(named, { allowLocal: false })).toThrow("not allowed");
    },
  );

  it("must be among the hosts of the operator", () => {
    expect(() => githubOrigin("", { allowLocal: false, hosts: ["git.acme.com"] })).toThrow("not among the hosts");
  });
});
