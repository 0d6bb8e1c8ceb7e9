/**
 * `node test/mcp-conformance.ts URL KEY [SCENARIO …]` runs the protocol's conformance suite against an MCP endpoint that needs an API key:
 * the suite sends no headers of its own, so a proxy adds the key. `KEY` may be `-` for an endpoint without one. Needs the package
 * `@modelcontextprotocol/conformance`, which `npx` fetches. Prints the checks of each scenario; exits with 1 where one fails that is
 * not in `KNOWN`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";

const PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

/** Scenarios about what a server of tools alone has. */
const SCENARIOS = [
  "server-initialize",
  "ping",
  "tools-list",
  "http-header-validation",
  "server-stateless",
  "caching",
  "dns-rebinding-protection",
];

/** Checks that cannot pass here, by their id, with the reason. */
const DIAGNOSTIC = "needs a tool that exists for the suite alone";
const NO_LISTS = "the server has neither prompts nor resources";
const KNOWN: Record<string, string> = {
  "sep-2575-server-rejects-undeclared-capability": DIAGNOSTIC,
  "sep-2575-missing-capability-http-400": DIAGNOSTIC,
  "sep-2575-http-server-no-independent-requests-on-stream": DIAGNOSTIC,
  "sep-2575-server-no-log-without-loglevel": DIAGNOSTIC,
  "sep-2549-prompts-list-caching-hints": NO_LISTS,
  "sep-2549-resources-list-caching-hints": NO_LISTS,
  "sep-2549-resources-templates-list-caching-hints": NO_LISTS,
};

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

/** Passes requests on with the key. Returns the address for the suite. */
async function startProxy(target: URL, key: string): Promise<{ url: string; close(): void }> {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, ...(key !== "-" && { authorization: `Bearer ${key}` }) };
    const upstream = request(target, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    upstream.on("error", () => outgoing.destroy());
    incoming.pipe(upstream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://localhost:${port}${target.pathname}`, close: () => server.close() };
}

async function runScenario(url: string, scenario: string): Promise<Check[]> {
  const output = mkdtempSync(path.join(os.tmpdir(), "mcp-conformance-"));
  try {
    const args = ["-y", PACKAGE, "server", "--url", url, "--scenario", scenario, "-o", output];
    const suite = spawn("npx", args, { stdio: "ignore" });
    await once(suite, "exit");
    const file = readdirSync(output, { recursive: true, encoding: "utf8" }).find((name) =>
      name.endsWith("checks.json"),
    );
    if (file === undefined) throw new Error(`${scenario} left no report`);
    return JSON.parse(readFileSync(path.join(output, file), "utf8")) as Check[];
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

const [endpoint, key = "-", ...wanted] = process.argv.slice(2);
if (endpoint === undefined) {
  console.error("usage: node test/mcp-conformance.ts URL KEY [SCENARIO …]");
  process.exit(2);
}
const proxy = await startProxy(new URL(endpoint), key);
let failed = 0;
for (const scenario of wanted.length > 0 ? wanted : SCENARIOS) {
  const checks = await runScenario(proxy.url, scenario);
  const passed = checks.filter(({ status }) => status === "SUCCESS").length;
  console.log(`${scenario}: ${passed} of ${checks.length} checks passed`);
  for (const { id, status, errorMessage } of checks) {
    if (status !== "FAILURE") continue;
    const reason = KNOWN[id];
    console.log(`  ${reason === undefined ? "FAILED" : "known"} ${id}: ${reason ?? errorMessage ?? ""}`);
    if (reason === undefined) failed++;
  }
}
proxy.close();
process.exit(failed === 0 ? 0 : 1);
