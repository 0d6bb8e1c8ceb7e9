import { describe, expect, it } from "vitest";
import type { UsageResponse } from "../../../src/contract/index.ts";
import type { Fault } from "../../support/model-server.ts";
import { createApiTenant, logged } from "../support/api.ts";
import { startModels } from "../support/models.ts";
import { embedVars, rerankVars, SECRETS } from "./providers.ts";

const ERROR = [502, "UPSTREAM_ERROR"] as const;
const UNREACHABLE = [502, "UPSTREAM_UNREACHABLE"] as const;
const TIMEOUT = [504, "UPSTREAM_TIMEOUT"] as const;

const FAULTS: [Fault, readonly [number, string]][] = [
  [{ kind: "hang" }, TIMEOUT],
  [{ kind: "hang-mid-body" }, TIMEOUT],
  [{ kind: "slow", delayMs: 2_000 }, TIMEOUT],
  [{ kind: "reset" }, UNREACHABLE],
  [{ kind: "reset-mid-body" }, UNREACHABLE],
  [{ kind: "status", status: 400 }, ERROR],
  [{ kind: "status", status: 401 }, ERROR],
  [{ kind: "status", status: 403 }, ERROR],
  [{ kind: "status", status: 404 }, ERROR],
  [{ kind: "status", status: 429 }, ERROR],
  [{ kind: "status", status: 500 }, ERROR],
  [{ kind: "status", status: 503 }, ERROR],
  [{ kind: "redirect", location: "http://127.0.0.1:1/elsewhere" }, ERROR],
  [{ kind: "html" }, ERROR],
  [{ kind: "cut-json" }, ERROR],
  [{ kind: "error-in-2xx" }, ERROR],
  [{ kind: "json", value: null }, ERROR],
  [{ kind: "too-few" }, ERROR],
  [{ kind: "too-many" }, ERROR],
  [{ kind: "duplicate-index" }, ERROR],
  [{ kind: "missing-index" }, ERROR],
  [{ kind: "nan" }, ERROR],
  [{ kind: "infinity" }, ERROR],
];
const VECTOR_FAULTS: [Fault, readonly [number, string]][] = [
  [{ kind: "wrong-dimension" }, ERROR],
  [{ kind: "inconsistent-dimension" }, ERROR],
];

/** Short only where the timeout is what is tested: everything else may take as long as the machine needs. */
const timeoutFor = (status: number) => (status === 504 ? "1500" : "60000");

const named = (rows: typeof FAULTS) =>
  rows.map(([fault, expected]) => ({
    name: "status" in fault ? `status ${fault.status}` : fault.kind,
    fault,
    expected,
  }));

describe.concurrent("POST /embed with a provider that answers with", () => {
  it.each(named([...FAULTS, ...VECTOR_FAULTS]))("$name", async ({ fault, expected: [status, code] }) => {
    const models = await startModels({ dimension: 4 });
    const vars = { ...embedVars(models.baseUrl), EMBED_DIMENSION: "4", UPSTREAM_TIMEOUT_MS: timeoutFor(status) };
    const tenant = await createApiTenant(vars, 1);
    await models.fault(fault);
    const response = await tenant.send("POST /embed", { json: { input: ["a", "b"] } });
    await expectSilence(response, models.baseUrl);
    expect([response.status, await codeOf(response)]).toEqual([status, code]);
    // The one credit is free again at once, and was never charged.
    const usage = await tenant.call<UsageResponse>("GET /usage");
    expect(usage.body).toMatchObject({ credits: { used: 0 }, tokens: { embed: 0 }, calls: { embed: 0 } });
    const healthy = await startModels({ dimension: 4, tokens: 1 });
    const again = await createApiTenant(embedVars(healthy.baseUrl));
    const retry = await again.call("POST /embed", { json: { input: ["a"] }, credential: tenant.apiKey });
    expect(retry.status).toBe(200);
  });
});

const RERANK_FAULTS = new Set<string>(["hang", "reset", "status", "html", "too-few", "nan"]);

describe.concurrent("POST /rerank with a provider that answers with", () => {
  it.each(named(FAULTS.filter(([{ kind }]) => RERANK_FAULTS.has(kind))))(
    "$name",
    async ({ fault, expected: [status, code] }) => {
      const models = await startModels({ api: "jina" });
      const tenant = await createApiTenant({ ...rerankVars(models.baseUrl), UPSTREAM_TIMEOUT_MS: timeoutFor(status) });
      await models.fault(fault);
      const response = await tenant.send("POST /rerank", { json: { query: "q", documents: ["a", "b"] } });
      await expectSilence(response, models.baseUrl);
      expect([response.status, await codeOf(response)]).toEqual([status, code]);
      expect((await tenant.call<UsageResponse>("GET /usage")).body.credits.used).toBe(0);
    },
  );
});

it("reports that the provider's address refuses connections", async () => {
  const tenant = await createApiTenant(embedVars("http://127.0.0.1:1/v1"));
  const { status, body } = await tenant.call("POST /embed", { json: { input: ["a"] } });
  expect([status, body["code"]]).toEqual(UNREACHABLE);
});

it("tells operators why, without the key and without what tenants wrote", async () => {
  const models = await startModels();
  const tenant = await createApiTenant(embedVars(models.baseUrl));
  await models.fault({ kind: "status", status: 401 }, 1);
  await tenant.call("POST /embed", { json: { input: ["a"] } });
  const line = logged.find((text) => text.includes('"upstream_failed"') && text.includes('"upstreamStatus":401'));
  expect(line).toContain(SECRETS.model);
  expect(logged.join("\n")).not.toContain(SECRETS.key);
  await models.fault({ kind: "status", status: 400, body: "cannot embed the canary-text" });
  await tenant.call("POST /embed", { json: { input: ["canary-text"] } });
  expect(logged.join("\n")).not.toContain("canary-text");
});

const codeOf = async (response: Response) => (await response.json<{ code: string }>()).code;

/** Nothing of the provider shows in the answer. */
async function expectSilence(response: Response, baseUrl: string): Promise<void> {
  const shown = JSON.stringify([...response.headers]) + (await response.clone().text());
  for (const secret of [...Object.values(SECRETS), new URL(baseUrl).port, "127.0.0.1", "jina", "openai", "nginx"]) {
    expect(shown.toLowerCase()).not.toContain(secret);
  }
}
