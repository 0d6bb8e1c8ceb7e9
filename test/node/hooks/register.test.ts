import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOOK_PROVIDERS, type HookProvider } from "../../../src/service/db/people-schema.ts";
import { registerHook } from "../../../src/service/hooks/register.ts";
import { type HostApi, startHostApi } from "../../support/host-api.ts";

const TOKENS = { token: "tok-strong-0123456789", weak: "tok-weak-0123456789" };
const URL_OF_HOOK = "https://code.example.com/api/v1/hooks/x/y";
const SECRET = "whsec-0123456789";

let host: HostApi;
beforeAll(async () => {
  host = await startHostApi(TOKENS);
});
afterAll(() => host[Symbol.asyncDispose]());

const register = (provider: HookProvider, more: { token?: string; cloneUrl?: string } = {}) =>
  registerHook(
    { fetch, gitHosts: { allowLocal: true }, timeoutMs: 1_000 },
    { provider, cloneUrl: host.cloneUrl, token: TOKENS.token, url: URL_OF_HOOK, secret: SECRET, ...more },
  );

describe.each(HOOK_PROVIDERS)("a hook at %s", (provider) => {
  it("is made once, for pushes, with its secret", async () => {
    await register(provider);
    await register(provider);
    expect(host.hooks[provider]).toHaveLength(1);
    const made = JSON.stringify(host.hooks[provider][0]);
    for (const part of [URL_OF_HOOK, SECRET, "push"]) expect(made).toContain(part);
  });

  it("is refused with what is wrong, and without the token", async () => {
    const problem = async (more?: Parameters<typeof register>[1]) => {
      const error: unknown = await register(provider, more).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "INVALID", field: "token" });
      const { message } = error as Error;
      expect(message).not.toContain("0123456789");
      return message;
    };
    expect(await problem({ token: "wrong-0123456789" })).toContain("does not accept this token");
    expect(await problem({ token: TOKENS.weak })).toMatch(/needs (?:write access|the scope)/);
    expect(await problem({ cloneUrl: host.cloneUrl.replace("api.git", "none.git") })).toMatch(/needs/);
    host.fail(422);
    expect(await problem()).toContain("public address");
    host.fail(302);
    expect(await problem()).toContain("status 302");
    host.fail(undefined);
  });
});

it("waits for a host for a limited time", async () => {
  host.fail("silence");
  await expect(register("gitea")).rejects.toThrow("did not answer");
  host.fail(undefined);
});

it("asks GitHub's own API for a repository there, and no address that is not allowed", async () => {
  const asked: string[] = [];
  const recorded: typeof fetch = async (input) => {
    asked.push(input instanceof Request ? input.url : input.toString());
    return Response.json([{ config: { url: URL_OF_HOOK } }]);
  };
  const hook = { provider: "github", token: "t", url: URL_OF_HOOK, secret: SECRET } as const;
  const github = { ...hook, cloneUrl: "https://github.com/acme/api" };
  await registerHook({ fetch: recorded, gitHosts: { allowLocal: false, hosts: ["github.com"] } }, github);
  expect(asked).toEqual(["https://api.github.com/repos/acme/api/hooks?per_page=100&limit=100"]);
  const local = { ...hook, cloneUrl: "http://127.0.0.1/acme/api" };
  await expect(registerHook({ fetch: recorded, gitHosts: { allowLocal: false } }, local)).rejects.toThrow(
    "not allowed",
  );
  expect(asked).toHaveLength(1);
});
