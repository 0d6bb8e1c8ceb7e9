import { expect, it } from "vitest";
import { createApp } from "../../../src/workers/api/app.ts";
import { ROUTES } from "../../../src/workers/api/routes.ts";
import { createApiTenant } from "../support/api.ts";

it("has exactly the routes that are described", () => {
  const routes = createApp().routes.filter(({ method }) => method !== "ALL");
  const existing = new Set(routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`));
  const described = ROUTES.flatMap(({ method, path, aliases = [] }) =>
    [path, `/api/v1${path}`, ...aliases].map((address) => `${method} ${address}`),
  );
  // The operator's route has a token of its own and is described in docs/operations.md.
  expect([...existing].toSorted()).toEqual(["GET /metrics", ...described].toSorted());
});

it("serves the description to anyone", async () => {
  const tenant = await createApiTenant();
  for (const path of ["/openapi.json", "/api/v1/openapi.json"]) {
    const { status, body } = await tenant.call(`GET ${path}`, { credential: null });
    expect([status, body["openapi"], (body["info"] as { version: string }).version]).toEqual([200, "3.1.1", "1.2.3"]);
  }
});

it("knows no other routes and methods", async () => {
  const tenant = await createApiTenant();
  const missing = await tenant.call("GET /nothing");
  expect(missing).toMatchObject({ status: 404, body: { ok: false, code: "NOT_FOUND" } });
  const wrong = await tenant.call("PUT /embed");
  expect(wrong).toMatchObject({ status: 405, body: { ok: false, code: "METHOD_NOT_ALLOWED" } });
  expect(wrong.headers.get("Allow")).toBe("GET, HEAD, POST");
  expect(wrong.headers.get("X-Request-Id")).toBeTruthy();
});

it("names a parameter that is given twice, and a body that is compressed", async () => {
  const tenant = await createApiTenant();
  const twice = await tenant.call("GET /symbols?name=a&limit=1&limit=2");
  expect(twice).toMatchObject({ status: 400, body: { code: "INVALID_BODY", error: "limit: must be given once" } });
  const gzip = { json: { input: ["text"] }, headers: { "Content-Encoding": "gzip" } };
  const compressed = await tenant.call("POST /embed", gzip);
  expect(compressed).toMatchObject({ status: 400, body: { code: "INVALID_BODY" } });
  expect(compressed.body["error"]).toContain("send the body uncompressed");
});
