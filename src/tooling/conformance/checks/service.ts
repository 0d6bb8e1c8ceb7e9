/** Health, routing, credentials and the site's proxy. */
import { pause } from "../../../lib/pause.ts";
import { answered, type Check, equal, holds, refused, remaining } from "../target.ts";

/** Dependencies are probed every 30 s: one that failed once gets a second probe. */
const HEALTHY_WITHIN_MS = 65_000;
const POLL_EVERY_MS = 2_000;

export const serviceChecks: Check[] = [
  {
    title: "GET /healthz answers without a credential, at both addresses",
    run: async (target) => {
      const answer = await target.call("/healthz");
      answered(answer, { ok: "boolean", status: "string", version: "string" });
      remaining(answer);
      const again = await target.call("/api/v1/healthz");
      equal(again.body["version"], answer.body["version"], "the version at /api/v1/healthz");
      return `version ${String(answer.body["version"])}, ${String(answer.body["status"])}`;
    },
  },
  {
    title: "GET /healthz: every dependency answers",
    run: async (target) => {
      const deadline = Date.now() + HEALTHY_WITHIN_MS;
      for (;;) {
        const { body, text } = await target.call("/healthz");
        if (body["ok"] === true) return;
        const mayRecover = body["ok"] === false && Date.now() < deadline;
        holds(mayRecover, `the service is degraded: ${text.slice(0, 300)}`);
        await pause(POLL_EVERY_MS);
      }
    },
  },
  {
    title: "every answer has a request id and forbids sniffing",
    run: async (target) => {
      for (const path of ["/healthz", "/no-such-route", "/embed"]) {
        const { headers } = await target.call(path);
        holds((headers.get("X-Request-Id") ?? "") !== "", `${path} has no X-Request-Id`);
        equal(headers.get("X-Content-Type-Options"), "nosniff", `X-Content-Type-Options of ${path}`);
      }
    },
  },
  {
    title: "an unknown route is 404 NOT_FOUND, a wrong method 405 with Allow",
    run: async (target) => {
      refused(await target.call("/no-such-route"), 404, "NOT_FOUND");
      const wrong = await target.call("/embed", { method: "DELETE" });
      refused(wrong, 405, "METHOD_NOT_ALLOWED");
      const allowed = (wrong.headers.get("Allow") ?? "").split(/, */);
      for (const method of ["GET", "POST"]) holds(allowed.includes(method), `Allow does not name ${method}`);
    },
  },
  {
    title: "a missing or malformed API key is 401 INVALID_API_KEY, without rate headers",
    run: async (target) => {
      const forged = `cc_live_${"0".repeat(24)}_${"0".repeat(43)}`;
      for (const authorization of [undefined, "Bearer x", "Basic eDp5", `Bearer ${forged}`]) {
        for (const path of ["/embed", "/rerank", "/usage", "/index-snapshot?list=1"]) {
          const answer = await target.call(path, authorization === undefined ? {} : { authorization });
          refused(answer, 401, "INVALID_API_KEY");
          equal(answer.headers.get("X-RateLimit-Limit"), null, "X-RateLimit-Limit of a 401");
        }
      }
    },
  },
  {
    title: "a missing worker token is 401 UNAUTHORIZED",
    run: async (target) => {
      refused(await target.call("/index", { json: {} }), 401, "UNAUTHORIZED");
      refused(await target.call("/snapshot", { json: {} }), 401, "UNAUTHORIZED");
    },
  },
  {
    title: "an API key is no worker token, nor the other way round",
    needs: ["apiKey", "workerToken"],
    run: async (target) => {
      refused(await target.call("/index", { json: {}, as: "apiKey" }), 401, "UNAUTHORIZED");
      refused(await target.call("/embed", { as: "workerToken" }), 401, "INVALID_API_KEY");
    },
  },
  {
    title: "the scheme of Authorization is taken in any case; answers to a credential are not stored",
    needs: ["apiKey"],
    run: async (target) => {
      const answer = await target.call("/usage", { authorization: `bEaReR ${target.need("apiKey")}` });
      answered(answer, { ok: "boolean" });
      equal(answer.headers.get("Cache-Control"), "no-store", "Cache-Control");
    },
  },
  {
    title: "the site passes /api/v1 on and answers a preflight itself",
    needs: ["siteUrl"],
    run: async (target) => {
      const base = `${target.need("siteUrl")}/api/v1`;
      answered(await target.call(`${base}/healthz`), { ok: "boolean", version: "string" });
      refused(await target.call(`${base}/embed`), 401, "INVALID_API_KEY");
      const asked = { Origin: "https://page.test", "Access-Control-Request-Method": "POST" };
      const headers = { ...asked, "Access-Control-Request-Headers": "authorization, content-type" };
      const preflight = await target.call(`${base}/embed`, { method: "OPTIONS", headers });
      holds(preflight.status === 204 || preflight.status === 200, `the preflight's status is ${preflight.status}`);
      const allowed = preflight.headers.get("Access-Control-Allow-Headers") ?? "";
      holds(/\bauthorization\b/i.test(allowed), `Access-Control-Allow-Headers is "${allowed}"`);
    },
  },
];
