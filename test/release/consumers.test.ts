/** The packed package, installed without a network into fresh projects of each kind, against a running service. */
import { DEVELOPMENT_VARS } from "../../src/tooling/local/stack/environment.ts";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../../src/tooling/local/stack/service.ts";
import { packPackage } from "../../src/tooling/release/package.ts";
import { launchChromium } from "../e2e/support/chromium.ts";

const run = promisify(execFile);
const wrangler = path.join(
  path.dirname(createRequire(import.meta.url).resolve("wrangler/package.json")),
  "bin",
  "wrangler.js",
);

let root: string;
let tarball: string;
let running: RunningService;

beforeAll(async () => {
  root = mkdtempSync(path.join(tmpdir(), "codectx-consumers-"));
  ({ tarball } = await packPackage(root));
  running = await startService({ dataDir: path.join(root, "data"), port: 0, sitePort: 0, vars: DEVELOPMENT_VARS });
});

afterAll(async () => {
  await running?.stop();
  if (root) rmSync(root, { recursive: true, force: true });
});

/** A project with nothing but the package. */
async function freshProject(name: string): Promise<string> {
  const folder = path.join(root, name);
  mkdirSync(folder);
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], { cwd: folder });
  return folder;
}

/** Asks for two vectors and for a run that does not exist: `256 256 RUN_NOT_FOUND`. */
const CALLS = `
import { CodeContextClient } from "codectx/client";
export async function calls(options) {
  const client = new CodeContextClient(options);
  const { embeddings } = await client.embed({ input: ["function add(a, b)", "class Stack"] });
  const { code } = await client.runStatus("00000000-0000-4000-8000-000000000000").catch((error) => error);
  return [...embeddings.map(({ vector }) => vector.length), code].join(" ");
}
`;
const EXPECTED = "256 256 RUN_NOT_FOUND";

function options(): { baseUrl: string; apiKey: string; workerToken: string } {
  const { siteUrl, apiKey, workerToken } = running.service;
  return { baseUrl: `${siteUrl}/api/v1`, apiKey, workerToken };
}

describe("codectx/client from a fresh project", () => {
  it("runs in Node", async () => {
    const folder = await freshProject("node");
    writeFileSync(path.join(folder, "main.js"), `${CALLS}\nconsole.log(await calls(${JSON.stringify(options())}));`);
    expect((await run(process.execPath, ["main.js"], { cwd: folder })).stdout.trim()).toBe(EXPECTED);
  });

  it("runs in a Worker that wrangler has bundled", async () => {
    const folder = await freshProject("worker");
    const fetchHandler = `async fetch() { return new Response(await calls(${JSON.stringify(options())})); }`;
    writeFileSync(path.join(folder, "worker.js"), `${CALLS}\nexport default { ${fetchHandler} };`);
    const config = 'name = "consumer"\nmain = "worker.js"\ncompatibility_date = "2026-11-01"\n';
    writeFileSync(path.join(folder, "wrangler.toml"), config);
    const args = [wrangler, "deploy", "--dry-run", "--outdir", "out"];
    await run(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false" },
    });
    const script = readFileSync(path.join(folder, "out", "worker.js"), "utf8");
    const worker = { name: "consumer", modules: true, script, compatibilityDate: "2026-11-01" };
    const miniflare = new Miniflare(convertV4MiniflareOptions({ workers: [worker] }));
    try {
      expect(await (await miniflare.dispatchFetch("http://consumer.test/")).text()).toBe(EXPECTED);
    } finally {
      await miniflare.dispose();
    }
  });

  it("runs in a browser", async () => {
    const folder = await freshProject("browser");
    writeFileSync(path.join(folder, "page.js"), `${CALLS}\nglobalThis.calls = calls;`);
    const bundle = { entryPoints: [path.join(folder, "page.js")], bundle: true, format: "iife", write: false } as const;
    const { outputFiles } = await build({ ...bundle, entryPoints: [...bundle.entryPoints], platform: "browser" });
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      // A page of another origin than the site's: the site answers the preflight.
      await page.goto(`${running.service.apiUrl}/healthz`);
      await page.addScriptTag({ content: outputFiles[0]?.text ?? "" });
      const seen = await page.evaluate(`calls(${JSON.stringify(options())})`);
      expect(seen).toBe(EXPECTED);
    } finally {
      await browser.close();
    }
  });

  it("brings a command that npx finds", async () => {
    const folder = await freshProject("command");
    const { stdout } = await run("npx", ["--offline", "codectx", "--help"], { cwd: folder });
    expect(stdout).toContain("Usage: codectx");
  });
});
