import { describe, expect, it } from "vitest";
import { createApiTenant } from "../support/api.ts";

const TOKEN = "metrics-token-of-the-tests";

/** Samples by name and labels. */
async function read(response: Response): Promise<Map<string, number>> {
  const lines = (await response.text()).trimEnd().split("\n");
  expect(lines.at(-1)).toBe("# EOF");
  const samples = lines.filter((line) => !line.startsWith("#"));
  for (const line of samples) expect(line).toMatch(/^codecontext_\w+(?:\{(?:\w+="[^"]*",?)+\})? -?[\d.e+-]+$/);
  return new Map(samples.map((line) => [line.replace(/ [^ ]+$/, ""), Number(line.slice(line.lastIndexOf(" ")))]));
}

describe("GET /metrics", () => {
  it("does not exist without a token of its own, and is for its bearer only", async () => {
    for (const token of ["", "unset", "short"]) {
      const tenant = await createApiTenant({ METRICS_TOKEN: token });
      expect((await tenant.send("GET /metrics", { credential: token })).status).toBe(404);
    }
    const tenant = await createApiTenant({ METRICS_TOKEN: TOKEN });
    for (const credential of [null, "wrong", `${TOKEN}x`, tenant.apiKey])
      expect((await tenant.send("GET /metrics", { credential })).status).toBe(401);
  });

  it("counts requests by route, status and code, whatever paths clients invent", async () => {
    const tenant = await createApiTenant({ METRICS_TOKEN: TOKEN });
    const metrics = async () => read(await tenant.send("GET /metrics", { credential: TOKEN }));
    const before = await metrics();
    await tenant.call("GET /usage");
    await tenant.call("GET /api/v1/usage");
    await tenant.call("GET /index/00000000-0000-4000-8000-000000000000", { credential: null });
    await tenant.send("GET /nothing/secret-path");
    const after = await metrics();
    const grown = (sample: string) => (after.get(sample) ?? 0) - (before.get(sample) ?? 0);
    const requests = (labels: string) => grown(`codecontext_http_requests_total{${labels}}`);
    expect(requests('method="GET",route="/usage",status="200",code="-"')).toBe(2);
    expect(requests('method="GET",route="/index/:runId",status="401",code="UNAUTHORIZED"')).toBe(1);
    expect(requests('method="GET",route="unmatched",status="404",code="-"')).toBe(1);
    expect([...after.keys()].join("\n")).not.toContain("secret-path");
    const latency = (suffix: string, labels = "") =>
      grown(`codecontext_http_request_duration_seconds_${suffix}{route="/usage"${labels}}`);
    expect(latency("count")).toBe(2);
    expect(latency("bucket", ',le="+Inf"')).toBe(2);
    expect(latency("bucket", ',le="60"')).toBe(2);
    expect(after.get("codecontext_erasures_open")).toBeGreaterThanOrEqual(0);
  });
});
