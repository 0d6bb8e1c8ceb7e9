import * as z from "zod";
import { MAX_BODY_BYTES, RETRY_AFTER_HEADER } from "../../../contract/index.ts";
import { ApiError } from "../../../lib/errors.ts";
import { takeFromBucket } from "../../../service/gate/client.ts";
import { accountsDatabase, databaseOf } from "../../../service/db/databases.ts";
import { HOOK_PROVIDERS } from "../../../service/db/people-schema.ts";
import { isHookId } from "../../../service/hooks/ids.ts";
import { receiveDelivery, REJECTED } from "../../../service/hooks/receive.ts";
import { APP_PROVIDER, receiveAppDelivery } from "../../../service/github/receive.ts";
import type { ApiContext } from "../context.ts";
import { limitSource, RateLimitedError, setRateHeaders } from "../middleware/authorize.ts";
import { readCapped } from "../middleware/body.ts";
import { publicRoute } from "../route.ts";
import { stored } from "../runs.ts";

const HookResponse = z
  .object({
    ok: z.literal(true),
    outcome: z.enum(["started", "deleted", "ignored", "failed"]),
    runId: z.string().nullable().describe("The index run that was started."),
    detail: z.string().nullable().describe("Why, for people."),
  })
  .meta({ id: "HookResponse" });

/** Receives a push notification from a git host. */
export const hook = publicRoute({
  id: "receiveHook",
  method: "POST",
  path: "/hooks/{provider}/{id}",
  tag: "Hosted indexing",
  summary: "Index a push that a Git host reports",
  description:
    "Called by the Git host, at the address of a hook, or of the webhook of a GitHub App (`github-app`), that was created in the dashboard. Deliveries are authenticated by GitHub's or Gitea's signature or GitLab's token. Pushes to the default branch, and to branches named in the repository's settings, start an index run; all others are answered with `ignored`. A repeated delivery starts nothing, unless its run failed.",
  surface: "hook",
  parameters: [
    {
      name: "provider",
      in: "path",
      required: true,
      description: "Host that sends it.",
      schema: { type: "string", enum: [...HOOK_PROVIDERS, APP_PROVIDER] },
    },
    { name: "id", in: "path", required: true, description: "Public id of the hook.", schema: { type: "string" } },
  ],
  responses: { 200: { description: "The outcome of the delivery.", schema: HookResponse } },
  errors: ["INVALID_BODY", "UNAUTHORIZED", "NOT_FOUND", "INPUT_TOO_LARGE", "UNAVAILABLE", "STORAGE_UNAVAILABLE"],
  handle: async (c) => {
    const id = c.req.param("id") ?? "";
    // Rejects a forged id without a query or a Durable Object.
    if (!isHookId(c.env.ENCRYPTION_KEY, id)) throw noHook();
    const body = await c.get("turn").outside(() => readCapped(c.req.raw, MAX_BODY_BYTES));
    if (body === undefined) throw new ApiError("INPUT_TOO_LARGE", `the body is larger than ${MAX_BODY_BYTES} bytes`);
    const { log } = c.get("services");
    const deps = {
      accounts: accountsDatabase(c.env),
      databaseOf: (tenantId: string) => databaseOf(c.env, tenantId),
      log,
      coordinators: c.env.WORKSPACE_RUNS,
      encryptionKey: c.env.ENCRYPTION_KEY,
      limitHook: (subject: string) => limitHook(c, subject),
      limitSender: () => limitSource(c, "unauthorized"),
    };
    const provider = c.req.param("provider") ?? "";
    const delivery = { provider, id, headers: c.req.raw.headers, body };
    const receive = provider === APP_PROVIDER ? receiveAppDelivery : receiveDelivery;
    const received = await stored(() => receive(deps, delivery));
    switch (received.status) {
      case "unknown":
        throw noHook();
      case "forged":
        throw new ApiError("UNAUTHORIZED", REJECTED.forged);
      case "malformed":
        throw new ApiError("INVALID_BODY", received.message);
      case "accepted": {
        const { outcome, runId, detail } = received;
        return c.json({ ok: true, outcome, runId, detail } satisfies z.infer<typeof HookResponse>);
      }
    }
  },
});

function noHook(): ApiError {
  return new ApiError("NOT_FOUND", "there is no such hook");
}

async function limitHook(c: ApiContext, id: string): Promise<void> {
  const taken = await takeFromBucket(c.env.RATE_BUCKETS, c.env.ENCRYPTION_KEY, { surface: "hook", subject: id });
  if ("outcome" in taken) {
    const headers = { [RETRY_AFTER_HEADER]: "5" };
    throw new ApiError("UNAVAILABLE", "the service is busy; deliver again", { headers });
  }
  setRateHeaders(c, taken.rate);
  if (!taken.allowed) throw new RateLimitedError(taken.retryAfterSec);
}
