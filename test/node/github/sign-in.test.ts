import { describe, expect, it } from "vitest";
import { readGithubSignIn } from "../../../src/service/github/sign-in.ts";

const client = { GITHUB_CLIENT_ID: "Iv1.0123456789abcdef", GITHUB_CLIENT_SECRET: "secret" };

describe("the settings of sign-in with GitHub", () => {
  it("are those of github.com unless another address is set", () => {
    expect(readGithubSignIn({})).toBeUndefined();
    expect(readGithubSignIn({ GITHUB_URL: "https://github.example.com" })).toBeUndefined();
    expect(readGithubSignIn(client)).toMatchObject({ origin: "https://github.com", clientSecret: "secret" });
    const other = readGithubSignIn({ ...client, GITHUB_URL: "https://github.example.com/" });
    expect(other).toMatchObject({ origin: "https://github.example.com" });
  });

  it.each([
    ["GITHUB_CLIENT_SECRET", { ...client, GITHUB_CLIENT_SECRET: "" }],
    ["GITHUB_CLIENT_ID", { ...client, GITHUB_CLIENT_ID: "" }],
    ["GITHUB_CLIENT_ID", { ...client, GITHUB_CLIENT_ID: "a b" }],
    ["GITHUB_URL", { ...client, GITHUB_URL: "github.com" }],
  ])("are refused with the name of %s", (name, env) => {
    expect(() => readGithubSignIn(env)).toThrow(name);
  });
});
