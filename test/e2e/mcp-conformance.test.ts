import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROJECT_ROOT } from "../../src/tooling/local/project.ts";
import { newTenant, service } from "./support/service.ts";

const SUITE = path.join(PROJECT_ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** Scenarios about what a server of tools alone has, with the checks of each that cannot pass here. */
const NEEDS_OWN_TOOL = [
  "sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400",
  "sep-2575-http-server-no-independent-requests-on-stream",
  "sep-2575-server-no-log-without-loglevel",
];
const NEEDS_PROMPTS_AND_RESOURCES = [
  "sep-2549-prompts-list-caching-hints",
  "sep-2549-resources-list-caching-hints",
  "sep-2549-resources-templates-list-caching-hints",
];
const SCENARIOS: [scenario: string, impossible: string[]][] = [
  ["server-initialize", []],
  ["ping", []],
  ["tools-list", []],
  ["http-header-validation", []],
  ["server-stateless", NEEDS_OWN_TOOL],
  ["caching", NEEDS_PROMPTS_AND_RESOURCES],
  ["dns-rebinding-protection", []],
];

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

let url: string;
let close: () => void;

/** Adds the API key to requests: the suite sends no headers of its own. */
beforeAll(async () => {
  const { apiKey } = await newTenant();
  const target = new URL(`${service().apiUrl}/mcp`);
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${apiKey}` };
    const upstream = request(target, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    upstream.on("error", () => outgoing.destroy());
    incoming.pipe(upstream);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  url = `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`;
  close = () => proxy.close();
});
afterAll(() => close());

async function runScenario(scenario: string): Promise<Check[]> {
  const output = mkdtempSync(path.join(os.tmpdir(), "mcp-conformance-"));
  try {
    const args = [SUITE, "server", "--url", url, "--scenario", scenario, "-o", output];
    await once(spawn(process.execPath, args, { stdio: "ignore" }), "exit");
    const report = readdirSync(output, { recursive: true, encoding: "utf8" }).find((name) =>
      name.endsWith("checks.json"),
    );
    if (report === undefined) throw new Error(`${scenario} left no report`);
    return JSON.parse(readFileSync(path.join(output, report), "utf8")) as Check[];
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

describe("the protocol's conformance suite", () => {
  it.concurrent.each(SCENARIOS)("%s", async (scenario, impossible) => {
    const checks = await runScenario(scenario);
    expect(checks.some(({ status }) => status === "SUCCESS")).toBe(true);
    const failures = checks.filter(({ status, id }) => status === "FAILURE" && !impossible.includes(id));
    expect(failures.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ""}`)).toEqual([]);
  });
});
