import { Hono } from "hono";
import { type FieldIssue, PublishRequest } from "../../contract/index.ts";
import { type ApiError, invalidBody } from "../../errors.ts";
import { commitSnapshot } from "../../snapshot/publish/commit.ts";
import type { SnapshotContext } from "../../snapshot/publish/context.ts";
import { listSnapshots, probeSnapshot, pullSnapshot } from "../../snapshot/publish/pull.ts";
import { parseQuery } from "../../snapshot/publish/selector.ts";
import { signSnapshot } from "../../snapshot/publish/sign.ts";
import type { ApiContext, ApiHono } from "../context.ts";
import { exchangeOf } from "../exchange.ts";
import { authorize } from "../middleware/authorize.ts";
import { readBody, unwrap } from "../middleware/body.ts";

/** Shared index snapshots: pull, probe and list, sign and commit. Artifact bytes go to storage directly. */
export const indexSnapshot = new Hono<ApiHono>();

indexSnapshot.get("/index-snapshot", async (c) => {
  const { principal } = await authorize(exchangeOf(c), { credential: "api_key", surface: "index_snapshot" });
  const query = parseQuery(new URL(c.req.url).searchParams);
  const context = contextOf(c);
  c.header("Cache-Control", "no-store");
  const { tenantId } = principal;
  if (query.mode === "list") return c.json(await listSnapshots(context, tenantId));
  if (query.mode === "pull") return c.json(await pullSnapshot(context, tenantId, query.selector));
  const { embedder } = c.get("services");
  return c.json(await probeSnapshot(context, tenantId, query.selector, embedder?.fingerprint));
});

indexSnapshot.post("/index-snapshot", async (c) => {
  const body = await readBody(c.req.raw, PublishRequest, { toError: bodyError });
  const { principal } = await authorize(exchangeOf(c), { credential: "api_key", surface: "index_snapshot" });
  const request = unwrap(body);
  const caller = { tenantId: principal.tenantId, actor: principal.credentialId };
  c.header("Cache-Control", "no-store");
  return request.op === "sign"
    ? c.json(await signSnapshot(contextOf(c), caller, request))
    : c.json(await commitSnapshot(contextOf(c), caller, request));
});

function contextOf(c: ApiContext): SnapshotContext {
  const { db, presigner, storageLimitBytes, now } = c.get("services");
  return { db, presigner, storageLimitBytes, now, bucket: c.env.SNAPSHOTS, log: c.get("log") };
}

/** A malformed selector has a code of its own, also where it stands in a body. */
function bodyError(issues: FieldIssue[]): ApiError {
  const isSelector = issues.length > 0 && issues.every(({ path }) => path === "repo" || path === "workspaceId");
  return invalidBody(issues, isSelector ? "INVALID_SELECTOR" : "INVALID_BODY");
}
