import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { findSecrets } from "../../../../src/engines/parsing/secrets/find.ts";
import { parseText } from "../support.ts";

// Made here, so that no file of this repository looks like a leak.
const base62 = (length: number): string => {
  const alphabet = "9G4kZr7Qm2Xv8Tb5Nc3Wd6Hy1Jp0LsFaEoUiKtRgBnVxMqCzYwDhSjPlAfOeIu";
  return Array.from(
    { length },
    (_, index) => alphabet[(index * 37 + 11 + ((index * index) % 23)) % alphabet.length],
  ).join("");
};
const upper = (length: number): string =>
  base62(length * 4)
    .replace(/[^A-Z2-7]/g, "")
    .slice(0, length);
const hex = (length: number): string => randomBytes(length).toString("hex").slice(0, length);
const pem = (kind: string): string => `-----BEGIN ${kind}-----\n${base62(64)}\n${base62(40)}\n-----END ${kind}-----`;

describe("secrets", () => {
  it.each([
    ["private-key", pem("RSA PRIVATE KEY")],
    ["private-key", pem("OPENSSH PRIVATE KEY")],
    ["private-key", pem("PRIVATE KEY").replaceAll("\n", String.raw`\n`)],
    ["aws-access-key", `AKIA${upper(16)}`],
    ["assigned-secret", `aws_secret_access_key = ${base62(40)}`],
    ["google-api-key", `AIza${base62(35)}`],
    ["connection-string", `AccountName=a;AccountKey=${base62(86)}==;`],
    ["github-token", `ghp_${base62(36)}`],
    ["github-fine-grained-token", `github_pat_${base62(82)}`],
    ["gitlab-token", `glpat-${base62(20)}`],
    ["slack-token", ["xoxb", "1029384756", base62(24)].join("-")],
    ["stripe-key", `sk_live_${base62(24)}`],
    ["npm-token", `npm_${base62(36)}`],
    ["openai-key", `sk-proj-${base62(40)}T3BlbkFJ${base62(40)}`],
    ["anthropic-key", `sk-ant-api03-${base62(93)}`],
    ["url-credentials", `postgres://app:${base62(20)}@db.internal.net/x`],
    ["assigned-secret", `const api_key = "${base62(32)}";`],
    ["code-context-credential", `cc_live_${base62(12)}_${base62(43)}`],
    ["digitalocean-token", `dop_v1_${hex(64)}`],
  ])("finds %s", (rule, text) => {
    const source = `before\nvalue: ${text}\nafter\n`;
    const found = findSecrets(source);
    expect(found.map((secret) => secret.rule)).toContain(rule);
    for (const { start, end } of found) {
      expect(start).toBeGreaterThanOrEqual(source.indexOf(text));
      expect(end).toBeLessThanOrEqual(source.indexOf(text) + text.length);
    }
  });

  it.each([
    "AKIAIOSFODNN7EXAMPLE",
    'api_key = "YOUR_API_KEY_GOES_HERE_PLEASE"',
    `ghp_${"x".repeat(36)}`,
    `password: "\${DATABASE_PASSWORD_FROM_ENV}"`,
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    'const header = "-----BEGIN RSA PRIVATE KEY-----";',
    "postgres://user:password@localhost:5432/db",
    'secret_key = "my.application.secret.key.name.in.vault"',
    'integrity: "sha512-' + base62(86) + '=="',
    'const commit = "3f786850e387550fdab836ed7e6dc881de23001b";',
    "npm_config_registry npm_lifecycle_event npm_package_name",
    "sk-learn and task-proj-management",
    'password: "Must be at least 8 characters long"',
    'password = "testpassword1"',
    "const password = config.dbPassword1;",
    'verify(factory).hasAllRoles("hasAllRoles1", "hasAllRoles2")',
    'pass `middlewares` or "valueBeanDesc2" to the builder',
    'connect("wss://stream1.acme.dev", "protocol1")',
    'it("logs in", "user@example.com", "2021-01-01")',
    `const COMMIT_SHA = "${hex(40)}";`,
    `BUILD_ID=${hex(32)}`,
    'Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")',
    `assertEquals("digest", "${hex(32)}")`,
    "secrets:\n  inherit: somewhere-else\n  name: registry-pull\n",
    'passwords = { minLength = "characters8", kind = "alphanumeric" }',
    "docker run -p 127.0.0.1:8080:80 -w /app1 web",
    "/** Users admin / operator1 may log in. */",
    'type Autocomplete =\n  | "current-password"\n  | "street-address"\n  | "transaction-amount";\n',
    'const options = [\n  "sentinel-pass",\n  "resolve-hostnames",\n];\n',
    "password: form-control\npassphrase: not-required\n",
    'labels = { password: "Kennwort", confirm: "Repeat it" }',
    "The user name and password components are encoded apart.",
    "docker run --rm --privileged multiarch/qemu",
    "interface Login {\n  password: CharArray\n}\n",
    "parseurl@~1.3.2, parseurl@~1.3.3:\n",
    "Default: arn:aws:secretsmanager:eu-west-1:418273645510:secret:api-Xb3kQ1",
    '<add key="TelemetryKey" value="37021e65-fe8c-423a-a1de-ec1b7c7e73e1" />',
    "-----BEGIN RSA PRIVATE KEY-----\nwrj2wDbCDCFmfqnSJ\n...\nKI3vFLlEz44sAV8jX\n-----END RSA PRIVATE KEY-----",
  ])("lets %s pass", (text) => {
    expect(findSecrets(text)).toEqual([]);
  });

  it("are withheld from chunks, symbols and context, and nothing else is", async () => {
    const token = `ghp_${base62(36)}`;
    const filler = Array.from(
      { length: 60 },
      (_, index) => `  use("a rather long line to fill chunks with", ${index});`,
    ).join("\n");
    const source = [
      `/** Uses ${token}. */`,
      `function leaky(token = "${token}") {`,
      filler,
      filler,
      "}",
      "",
      "/** Fine. */",
      "function fine() {",
      filler,
      "}",
      "",
    ].join("\n");
    const parsed = await parseText("typescript", source);
    const published = JSON.stringify({ symbols: parsed.symbols, chunks: parsed.chunks });
    expect(published).not.toContain(token);
    expect(published).not.toContain(token.slice(4, 24));
    const withheld = parsed.chunks.filter((chunk) => chunk.withheld);
    expect(withheld).toHaveLength(1);
    expect(withheld[0]).toMatchObject({ text: "", context: "", startLine: 1 });
    expect(parsed.symbols[0]).toMatchObject({ name: "leaky", signature: "leaky", doc: null });
    expect(parsed.symbols[1]).toMatchObject({ name: "fine", signature: "function fine()", doc: "Fine." });
    expect(parsed.chunks.some((chunk) => chunk.text.includes("function fine()"))).toBe(true);
  });

  it("are withheld as names too, and the hash of a withheld chunk tells nothing", async () => {
    const one = await parseText("json", `{\n  "npm_${base62(36)}": 1\n}\n`);
    const other = await parseText("json", `{\n  "AKIA${upper(16)}": 2\n}\n`);
    expect(one.symbols[0]?.name).toBe("withheld");
    expect(one.chunks[0]?.hash).toBe(other.chunks[0]?.hash);
  });

  it.each([
    ["markdown", (token: string) => `# Token ${token}\n\nIntro.\n\n## Usage\n\nText.\n`],
    ["markdown", (token: string) => `Setext ${token}\n======\n\n## Usage\n\nText.\n`],
    ["yaml", (token: string) => `${token}:\n  inner:\n    leaf: 1\n`],
    ["toml", (token: string) => `[servers.${token}]\nport = 1\n`],
    ["json", (token: string) => `{ "outer": { "${token}": { "inner": 1 } } }\n`],
    [
      "python",
      (token: string) =>
        `class Client:\n    """Uses ${token}."""\n\n    def call(self, token="${token}"):\n        pass\n`,
    ],
    ["go", (token: string) => `package a\n\n// Key is ${token}.\nconst Key = "${token}"\n`],
    ["css", (token: string) => `.${token} { color: red }\n`],
    ["makefile", (token: string) => `deploy: export TOKEN = ${token}\ndeploy:\n\techo ${token}\n`],
  ] as const)("leave no trace in what is kept of %s", async (language, write) => {
    for (const token of [`ghp_${base62(36)}`, `sk_live_${base62(30)}`]) {
      const long = "lorem dolor sit amet\n".repeat(400);
      const { symbols, chunks } = await parseText(language, `${write(token)}${language === "markdown" ? long : ""}`);
      const kept = JSON.stringify({ symbols, chunks });
      expect(kept).not.toContain(token.slice(0, 20));
      expect(kept).not.toContain(token.slice(-12));
      expect(symbols.length).toBeGreaterThan(0);
    }
  });

  it("withhold every chunk that a private key reaches into", async () => {
    const lines = Array.from({ length: 120 }, () => base62(64)).join("\n");
    const parsed = await parseText(
      "text",
      `intro\n\n-----BEGIN RSA PRIVATE KEY-----\n${lines}\n-----END RSA PRIVATE KEY-----\n\noutro\n`,
    );
    const shown = parsed.chunks.map((chunk) => chunk.text).join("\n");
    expect(parsed.chunks.filter((chunk) => chunk.withheld).length).toBeGreaterThan(1);
    expect(shown).not.toContain(base62(64));
  });
});
