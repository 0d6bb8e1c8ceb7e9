import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { PROJECT_ROOT } from "../../src/tooling/local/project.ts";
import { freePort } from "../../src/tooling/local/stack/ports.ts";
import { consent, mcpUrl } from "./support/agent.ts";
import { memberOf } from "./support/dashboard.ts";
import { newTenant, service } from "./support/service.ts";

const SUITE = path.join(PROJECT_ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

async function registerClient(redirect: string): Promise<string> {
  const answer = await fetch(`${service().siteUrl}/oauth/register`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      client_name: "Conformance suite",
      redirect_uris: [redirect],
      token_endpoint_auth_method: "none",
    }),
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { client_id: string }).client_id;
}

it("passes the authorization scenarios of the protocol's conformance suite", async () => {
  const { tenantId } = await newTenant();
  const person = await memberOf(tenantId, "member");
  const port = await freePort();
  const clientId = await registerClient(`http://127.0.0.1:${port}/callback`);
  const output = mkdtempSync(path.join(os.tmpdir(), "oauth-conformance-"));
  try {
    const args = ["--url", `${service().siteUrl}/oauth`, "--client-id", clientId, "--resource", mcpUrl().href];
    const suite = spawn(process.execPath, [SUITE, "authorization", ...args, "--port", String(port), "-o", output], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const exited = once(suite, "exit");
    // The suite prints an address for a browser, and waits to be sent back to.
    let printed = "";
    for await (const part of suite.stdout) {
      printed += String(part);
      const address = /^https?:\S+\/oauth\/authorize\?\S+(?=\n)/m.exec(printed)?.[0];
      if (address === undefined) continue;
      const back = await consent(person, new URL(address));
      expect((await fetch(back)).status).toBe(200);
      break;
    }
    suite.stdout.resume();
    await exited;
    const reports = readdirSync(output, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith("checks.json"),
    );
    const checks = reports.flatMap((name) => JSON.parse(readFileSync(path.join(output, name), "utf8")) as Check[]);
    expect(checks.map(({ id, status, errorMessage }) => `${errorMessage ?? status}: ${id}`).toSorted()).toEqual([
      "SUCCESS: authorization-code-grant",
      "SUCCESS: authorization-server-metadata",
      "SUCCESS: authorization-server-metadata-cimd",
    ]);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
});
