import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HookProvider } from "../../../src/service/db/people-schema.ts";
import { isHookId, newHookId } from "../../../src/service/hooks/ids.ts";
import { readDelivery } from "../../../src/service/hooks/payload.ts";
import { isGenuine } from "../../../src/service/hooks/signature.ts";
import { PAYLOADS } from "../../support/hook-payloads.ts";

const SHA = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
const ZERO = "0".repeat(40);
const bytes = (text: string) => new TextEncoder().encode(text);
const JSON_TYPE = { "Content-Type": "application/json" };

function read(
  provider: HookProvider,
  push: Parameters<(typeof PAYLOADS)["github"]>[0],
  headers: Record<string, string> = {},
) {
  const sent = PAYLOADS[provider](push);
  return readDelivery(provider, new Headers({ ...sent.headers, ...headers }), bytes(JSON.stringify(sent.body)));
}

describe.each(["github", "gitlab", "gitea"] as const)("a push of %s", (provider) => {
  it("says branch, commit and default branch", () => {
    expect(
      read(provider, { ref: "refs/heads/feature/x", after: SHA, defaultBranch: "trunk", id: "d-1" }),
    ).toMatchObject({
      push: { branch: "feature/x", gitSha: SHA, isDeleted: false },
      defaultBranch: "trunk",
    });
  });

  it("tells a deleted branch and a tag apart", () => {
    expect(read(provider, { ref: "refs/heads/old", after: ZERO }).push).toMatchObject({
      branch: "old",
      isDeleted: true,
    });
    expect(read(provider, { ref: "refs/tags/v1", after: SHA }).push).toBeNull();
  });

  it("goes by its signed body, or by its id where only a token is sent", () => {
    const { body } = PAYLOADS[provider]({ ref: "refs/heads/main", after: SHA });
    const idOf = (id: string, sent: object) => {
      const { headers } = PAYLOADS[provider]({ ref: "refs/heads/main", after: SHA, id });
      return readDelivery(provider, new Headers(headers), bytes(JSON.stringify(sent))).deliveryId;
    };
    const isSigned = provider !== "gitlab";
    expect(idOf("d-1", body) === idOf("d-2", body)).toBe(isSigned);
    expect(idOf("d-1", body) === idOf("d-1", { ...body, later: 1 })).toBe(!isSigned);
  });

  it("is refused where it makes no sense", () => {
    for (const push of [
      { ref: "refs/heads/a b", after: SHA },
      { ref: "refs/heads/a\u0000", after: SHA },
      { ref: `refs/heads/${"x".repeat(501)}`, after: SHA },
      { ref: "refs/heads/\ud800", after: SHA },
      { ref: "refs/heads/main", after: "main" },
    ]) {
      expect(() => read(provider, push)).toThrow(SyntaxError);
    }
    const { headers } = PAYLOADS[provider]({ ref: "refs/heads/main", after: SHA });
    for (const body of ["", "null", "[]", "{", '"text"', "{}"]) {
      expect(() => readDelivery(provider, new Headers(headers), bytes(body))).toThrow(SyntaxError);
    }
  });

  it("never throws anything else, whatever is sent", () => {
    const { headers } = PAYLOADS[provider]({ ref: "refs/heads/main", after: SHA });
    fc.assert(
      fc.property(fc.json(), fc.dictionary(fc.string(), fc.jsonValue()), (text, object) => {
        for (const body of [
          text,
          JSON.stringify(object),
          JSON.stringify({ ref: object["ref"], after: object["after"], ...object }),
        ]) {
          try {
            readDelivery(provider, new Headers(headers), bytes(body));
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("other deliveries", () => {
  it("are read without a push", () => {
    const ping = new Headers({ ...JSON_TYPE, "X-GitHub-Event": "ping", "X-GitHub-Delivery": "1" });
    expect(readDelivery("github", ping, bytes('{"zen":"x"}'))).toMatchObject({ event: "ping", push: null });
    const merge = new Headers({ ...JSON_TYPE, "X-Gitlab-Event": "Merge Request Hook" });
    expect(readDelivery("gitlab", merge, bytes("{}"))).toMatchObject({ push: null, deliveryId: null });
  });

  it("may come as a form", () => {
    const { headers, body } = PAYLOADS.github({ ref: "refs/heads/main", after: SHA });
    const form = new URLSearchParams({ payload: JSON.stringify(body) }).toString();
    const type = { "Content-Type": "application/x-www-form-urlencoded" };
    expect(readDelivery("github", new Headers({ ...headers, ...type }), bytes(form)).push?.branch).toBe("main");
  });
});

describe("signatures", () => {
  const body = bytes('{"ref":"refs/heads/main"}');
  const hmac = (secret: string) => createHmac("sha256", secret).update(body).digest("hex");
  const cases: [HookProvider, string, (secret: string) => string][] = [
    ["github", "X-Hub-Signature-256", (secret) => `sha256=${hmac(secret)}`],
    ["gitea", "X-Gitea-Signature", hmac],
    ["gitlab", "X-Gitlab-Token", (secret) => secret],
  ];

  it.each(cases)("of %s hold for the secret alone", (provider, header, sign) => {
    const check = (headers: Record<string, string>, of: Uint8Array = body) =>
      isGenuine(provider, new Headers(headers), of, "secret");
    expect(check({ [header]: sign("secret") })).toBe(true);
    expect(check({ [header]: sign("other") })).toBe(false);
    expect(check({ [header]: "" })).toBe(false);
    expect(check({ [header]: `${sign("secret")}0` })).toBe(false);
    expect(check({})).toBe(false);
    if (provider !== "gitlab") expect(check({ [header]: sign("secret") }, bytes("{}"))).toBe(false);
  });

  it("of GitHub agree with the example of its documentation", () => {
    // docs.github.com, "Testing the webhook payload validation".
    const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    const headers = new Headers({ "X-Hub-Signature-256": signature });
    expect(isGenuine("github", headers, bytes("Hello, World!"), "It's a Secret to Everybody")).toBe(true);
  });
});

describe("ids", () => {
  it("of a hook are known without asking anybody", () => {
    const id = newHookId("key");
    expect(isHookId("key", id)).toBe(true);
    expect(isHookId("other key", id)).toBe(false);
    for (const wrong of [
      "",
      "x",
      id.slice(1),
      `${id}A`,
      `${id.slice(0, -1)}${id.endsWith("A") ? "B" : "A"}`,
      "../../../etc/passwd_____",
    ]) {
      expect(isHookId("key", wrong)).toBe(false);
    }
  });
});
