import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cloudflare } from "../../../src/tooling/deploy/cloudflare.ts";
import { readSettings } from "../../../src/tooling/deploy/settings.ts";
import { StateFile } from "../../../src/tooling/deploy/state.ts";
import { changedVariables, keptSecrets, resolveVariables } from "../../../src/tooling/deploy/variables.ts";
import { declaredVars } from "../../../src/tooling/deploy/workers.ts";
import { FAKE_TOKEN, FakeCloudflare } from "../../support/fake-cloudflare.ts";
import { newScript } from "../../support/fake-workers.ts";

let cloudflare: FakeCloudflare;

beforeAll(async () => {
  cloudflare = await FakeCloudflare.start();
});

afterAll(() => cloudflare?.stop());

describe("settings of a deployment", () => {
  it("are refused by name", () => {
    const read = (args: string[], env: NodeJS.ProcessEnv) => () => readSettings(args, env, []);
    const token = { CLOUDFLARE_API_TOKEN: "t" };
    expect(read([], {})).toThrow("CLOUDFLARE_API_TOKEN is not set");
    expect(read([], { ...token, DATABASE_URL: "mysql://x" })).toThrow("DATABASE_URL: expected postgres://");
    expect(read(["--env", "No!"], token)).toThrow("--env No!: expected up to 20 lower-case letters");
    expect(read(["--bogus"], token)).toThrow("Unknown option '--bogus'");
    expect(read(["undo"], token)).toThrow('unknown command "undo"');
    expect(read([], { ...token, CLOUDFLARE_ACCOUNT_ID: "../x" })).toThrow("CLOUDFLARE_ACCOUNT_ID: expected the 32");
    expect(read([], { ...token, ENCRYPTION_KEY: "short" })).toThrow("ENCRYPTION_KEY: expected at least 32");
    expect(read([], { ...token, ENCRYPTION_KEY: "{" })).toThrow("ENCRYPTION_KEY: expected a key, or");
    expect(read([], { ...token, OWNER_EMAIL: "you" })).toThrow("OWNER_EMAIL you: expected an address such as");
    expect(read([], { ...token, API_URL: "api.example.com" })).toThrow(
      "API_URL must be a public address without a path",
    );
    expect(read([], { ...token, CORS_ORIGINS: "https://a.example/x" })).toThrow(
      "CORS_ORIGINS must be a public address without a path",
    );
    expect(read([], { ...token, API_DOMAIN: "https://x.example.com" })).toThrow("expected a host name");
    expect(read(["--unset", "ENCRYPTION_KEY"], token)).toThrow("--unset ENCRYPTION_KEY: expected one of");
    const both = { ...token, CORS_ORIGINS: "https://a.example" };
    expect(read(["--unset", "CORS_ORIGINS"], both)).toThrow("the environment has a value for it");
    expect(read([], { ...token, NEON_API_KEY: "n", R2_ACCESS_KEY_ID: "id" })).toThrow("set both, or neither");
  });

  it("write the owner's address as people sign in with it", () => {
    const env = { CLOUDFLARE_API_TOKEN: "t", NEON_API_KEY: "n", OWNER_EMAIL: " You@Example.com" };
    expect(readSettings([], env, []).ownerEmail).toBe("you@example.com");
  });

  it("stay as the Workers have them, or else the state, unless they are given or unset", async () => {
    deployed("api", {
      EMBED_PROVIDER: "voyage",
      GIT_HOSTS: "github.com",
      SERVICE_VERSION: "0.0.9",
      API_URL: "https://a.example",
    });
    // Left behind by an interrupted deployment.
    deployed("indexer", { EMBED_PROVIDER: "builtin" });
    const state = { EMBED_PROVIDER: "jina", MAIL_FROM: "Code <noreply@example.com>", REGION: "eu" };
    const { values } = await resolve({ REGION: "us" }, ["--unset", "GIT_HOSTS", "--unset", "API_DOMAIN"], state);
    expect(values).toEqual({ EMBED_PROVIDER: "voyage", MAIL_FROM: "Code <noreply@example.com>", REGION: "us" });
    const before = { GIT_HOSTS: "github.com", REGION: "us", GONE: "x" };
    expect(changedVariables({ values, deployed: before }, { GIT_HOSTS: "", REGION: "us" })).toEqual([
      'GIT_HOSTS: "github.com" → ""',
      'GONE: "x" → no longer used',
    ]);
    cloudflare.scripts.clear();
  });

  it("must be complete for the mail provider, whose key a Worker may have already", async () => {
    const mail = { MAIL_PROVIDER: "resend", MAIL_FROM: "a@example.com" };
    await expect(resolve({ MAIL_PROVIDER: "smtp" })).rejects.toThrow("expected cloudflare, resend or none");
    await expect(resolve({ MAIL_PROVIDER: "resend", MAIL_API_KEY: "k" })).rejects.toThrow("MAIL_FROM is not set");
    await expect(resolve(mail)).rejects.toThrow("MAIL_API_KEY is not set: resend needs it");
    deployed("site", { ...mail, MAIL_BASE_URL: "" });
    await expect(resolve(mail)).resolves.toMatchObject({ values: mail });
    cloudflare.scripts.clear();
  });

  it("name a secret that was given before and that the Workers have no longer", async () => {
    const keep = (env: NodeJS.ProcessEnv, secrets: string[], args: string[] = []) => {
      const settings = readSettings(args, { CLOUDFLARE_API_TOKEN: FAKE_TOKEN, ...env }, []);
      const { accountId, apiUrl } = cloudflare;
      return keptSecrets(new Cloudflare({ apiUrl, token: FAKE_TOKEN, accountId }), settings, { version: 2, secrets });
    };
    const lost = "EMBED_API_KEY: given before, but the Workers have it no longer; set it again";
    expect(await keep({ EMBED_API_KEY: "k", ENCRYPTION_KEY: "k".repeat(32) }, [])).toEqual(["EMBED_API_KEY"]);
    await expect(keep({}, ["EMBED_API_KEY"])).rejects.toThrow(lost);
    expect(await keep({}, ["EMBED_API_KEY"], ["--unset", "EMBED_API_KEY"])).toEqual([]);
    for (const worker of ["api", "indexer"])
      cloudflare.scripts.set(`code-context-${worker}`, { ...newScript(), secrets: new Map([["EMBED_API_KEY", "k"]]) });
    expect(await keep({}, ["EMBED_API_KEY"])).toEqual(["EMBED_API_KEY"]);
    cloudflare.scripts.delete("code-context-indexer");
    await expect(keep({}, ["EMBED_API_KEY"])).rejects.toThrow(lost);
    cloudflare.scripts.clear();
  });

  function deployed(worker: string, vars: Record<string, string>): void {
    const bindings = Object.entries(vars).map(([name, text]) => ({ type: "plain_text", name, text }));
    cloudflare.scripts.set(`code-context-${worker}`, { ...newScript(), metadata: { bindings, keep_bindings: [] } });
  }

  function resolve(env: NodeJS.ProcessEnv, args: string[] = [], vars: Record<string, string> = {}) {
    const settings = readSettings(args, { CLOUDFLARE_API_TOKEN: FAKE_TOKEN, ...env }, [...declaredVars().keys()]);
    const { accountId, apiUrl } = cloudflare;
    return resolveVariables(new Cloudflare({ apiUrl, token: FAKE_TOKEN, accountId }), settings, { version: 2, vars });
  }
});

describe("state of a deployment", () => {
  it("is read as earlier commits wrote it, and refused if a later version did", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "code-context-state-"));
    const read = (content: object) => {
      writeFileSync(path.join(folder, "production.json"), JSON.stringify(content));
      return new StateFile("production", folder).read();
    };
    const r2 = { accessKeyId: "id", secretAccessKey: "secret" };
    // a780896, which created the format, and 7f3ff83, which knew unfinished projects.
    const first = { encryptionKey: "key", r2, neonProjectId: "project-1" };
    expect(read(first)).toEqual({ version: 2, ...first });
    expect(read({ encryptionKey: "key", isNeonProjectUnfinished: true })).toMatchObject({
      isNeonProjectUnfinished: true,
    });
    expect(() => read({ version: 3 })).toThrow("was written by a later version of the service");
    expect(() => read({ encryptionKey: 5 })).toThrow("is damaged");
    rmSync(folder, { recursive: true });
  });
});
