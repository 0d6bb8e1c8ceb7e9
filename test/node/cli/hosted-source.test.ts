import { expect, it } from "vitest";
import { requireWorkerToken } from "../../../src/cli/remote/hosted-source.ts";

const CREDENTIALS = { apiUrl: "https://api.example.com", apiKey: "cc_live_a", workerToken: undefined };

it("a hosted run without a worker token, or with an API key for one, is told where to get one", () => {
  const place = /dashboard's page of keys, or with `npm run admin -- token create`.+CODECTX_WORKER_TOKEN/;
  expect(() => requireWorkerToken(CREDENTIALS, undefined)).toThrow(place);
  expect(() => requireWorkerToken(CREDENTIALS, "cc_live_b")).toThrow(/is an API key, but runs need one that begins/);
  expect(() => requireWorkerToken(CREDENTIALS, "cc_live_b")).toThrow(place);
  expect(requireWorkerToken({ ...CREDENTIALS, workerToken: "cc_wrk_c" }, undefined).workerToken).toBe("cc_wrk_c");
});
