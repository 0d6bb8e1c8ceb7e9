import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { build, type BuildOptions } from "esbuild";
import { PROJECT_ROOT } from "../../../src/tooling/local/project.ts";
import { type Packed, packageProblems, packPackage } from "../../../src/tooling/release/package.ts";

const run = promisify(execFile);
const resolve = createRequire(import.meta.url).resolve;

/** The package as it is published, installed from its tarball into an empty project without a network. */
let project: string;
let packed: Packed;
let service: Server;

beforeAll(async () => {
  project = mkdtempSync(path.join(tmpdir(), "codectx-package-"));
  const tsdown = path.join(path.dirname(resolve("tsdown/package.json")), "dist", "run.mjs");
  await run(process.execPath, [tsdown, "--logLevel", "error"], { cwd: PROJECT_ROOT });
  const made = await packPackage(project);
  packed = made.packed;
  writeFileSync(path.join(project, "package.json"), '{ "type": "module" }');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", made.tarball], { cwd: project });
  const check = { ok: true, fingerprint: `emb_${"0".repeat(32)}`, dimension: 256 };
  service = createServer(({ url }, response) => {
    const answer = url === "/embed" ? check : { ok: false, code: "NOT_FOUND", error: "there is nothing here" };
    response.writeHead(url === "/embed" ? 200 : 404, { "Content-Type": "application/json" });
    response.end(JSON.stringify(answer));
  });
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
}, 300_000);

afterAll(() => {
  service?.close();
  if (project) rmSync(project, { recursive: true, force: true });
});

/** Uses the client as its manual shows; prints what a check and a failed search give. */
const CONSUMER = `
import { CodeContextClient, CodeContextError, type EmbedCheckResponse, type ErrorCode, type SearchResult } from "codectx/client";

export async function use(baseUrl: string): Promise<string[]> {
  const client = new CodeContextClient({ baseUrl, apiKey: "key" });
  const check: EmbedCheckResponse = await client.checkEmbed();
  const seen = [\`\${check.dimension} \${client.fingerprint === check.fingerprint}\`];
  try {
    const { results } = await client.search({ query: "q" });
    const first: SearchResult | undefined = results[0];
    seen.push(first?.symbol?.qualifiedName ?? "none");
    const { embeddings } = await client.embed({ input: ["a"], inputType: "query" });
    const vector: number[] = embeddings[0]?.vector ?? [];
    seen.push(String(vector.length));
    for await (const { state } of client.streamRun("id")) if (state === "cancelled") break;
    const probe = await client.snapshots.probe({ repo: "github.com/owner/name" });
    if (probe.exists) seen.push(probe.gitSha);
    // @ts-expect-error: a selector names the workspace in one of two ways
    await client.snapshots.pull({});
    // @ts-expect-error: the query is required
    await client.search({});
  } catch (error) {
    if (!(error instanceof CodeContextError)) throw error;
    const known: ErrorCode = "NOT_FOUND";
    seen.push(\`\${error.code === known} \${error.status}\`);
  }
  return seen;
}
`;

describe("the codectx package", () => {
  it("holds what belongs into it, and nothing else", async () => {
    expect(await packageProblems(packed)).toEqual([]);
    const odd = { path: "client/index.js.map", size: 1, mode: 0o644 };
    const small = packed.files.filter((file) => file.path !== "LICENSE");
    expect(await packageProblems({ ...packed, size: 9e6, files: [...small, odd] })).toEqual([
      "client/index.js.map does not belong into the package",
      "LICENSE is missing",
      expect.stringContaining("the tarball has 9000000 bytes"),
    ]);
  });

  it("runs as a command", async () => {
    const bin = path.join(project, "node_modules", ".bin", "codectx");
    const { version } = JSON.parse(readFileSync(path.join(PROJECT_ROOT, "package.json"), "utf8")) as {
      version: string;
    };
    const env = { ...process.env, XDG_CACHE_HOME: project, XDG_CONFIG_HOME: project };
    expect((await run(bin, ["--version"], { env })).stdout.trim()).toBe(version);
    writeFileSync(path.join(project, "shop.ts"), "export function closeExpiredSessions() {}\n");
    await run("git", ["init", "-q"], { cwd: project });
    const found = await run(bin, ["symbol", "closeExpiredSessions", "--json"], { cwd: project, env });
    expect(found.stdout).toContain('"path":"shop.ts"');
    writeFileSync(path.join(project, ".mcp.json"), "{}");
    await run(bin, ["setup", "claude-code", "--yes"], { cwd: project, env });
    expect(JSON.parse(readFileSync(path.join(project, ".mcp.json"), "utf8"))).toHaveProperty("mcpServers.codectx");
  });

  it.each([
    ["Node", { module: "nodenext", types: [], lib: ["es2022", "dom"] }],
    ["a bundler", { module: "esnext", moduleResolution: "bundler", types: [], lib: ["es2022", "dom"] }],
  ])("has types that a strict project takes as %s resolves them", async (name, options) => {
    const folder = path.join(project, name.replaceAll(" ", "-"));
    mkdirSync(folder);
    writeFileSync(path.join(folder, "use.ts"), CONSUMER);
    const compilerOptions = {
      ...options,
      target: "es2022",
      strict: true,
      exactOptionalPropertyTypes: true,
      outDir: "out",
    };
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
    const tsc = path.join(path.dirname(resolve("typescript/package.json")), "bin", "tsc");
    await run(process.execPath, [tsc, "-p", folder]).catch(({ stdout }: { stdout: string }) => expect(stdout).toBe(""));
  });

  it("works in Node, and in a bundle that knows no module of Node's", async () => {
    const baseUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const source = `${CONSUMER}\nconsole.log(JSON.stringify(await use(${JSON.stringify(baseUrl)})));`;
    const entry = path.join(project, "entry.ts");
    writeFileSync(entry, source);
    const common: BuildOptions = { entryPoints: [entry], bundle: true, format: "esm", logLevel: "silent" };
    await build({ ...common, platform: "node", packages: "external", outfile: path.join(project, "entry.mjs") });
    const bundle = await build({
      ...common,
      platform: "browser",
      minify: true,
      outfile: path.join(project, "bundle.mjs"),
      metafile: true,
    });
    expect(Object.values(bundle.metafile?.outputs ?? {})[0]?.bytes).toBeLessThan(147_000);
    for (const file of ["entry.mjs", "bundle.mjs"]) {
      const { stdout } = await run(process.execPath, [path.join(project, file)], { cwd: project });
      expect(JSON.parse(stdout)).toEqual(["256 true", "true 404"]);
    }
  });
});
