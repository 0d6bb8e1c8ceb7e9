import * as z from "zod";
import {
  CommitResponse,
  type FieldIssue,
  ListResponse,
  ProbeResponse,
  MAX_MANIFEST_VALUES,
  PublishRequest,
  PullResponse,
  SignResponse,
  SnapshotQuery,
} from "../../../contract/index.ts";
import { type ApiError, invalidBody } from "../../../lib/errors.ts";
import { databaseOf } from "../../../service/db/databases.ts";
import { commitSnapshot } from "../../../service/snapshots/commit.ts";
import type { SnapshotContext } from "../../../service/snapshots/context.ts";
import { listSnapshots, probeSnapshot, pullSnapshot, modeOf } from "../../../service/snapshots/pull.ts";
import { signSnapshot } from "../../../service/snapshots/sign.ts";
import type { ApiContext } from "../context.ts";
import { route } from "../route.ts";

const TAG = "Snapshots";

/** Pulls, probes or lists shared snapshots. */
export const readSnapshot = route({
  id: "readSnapshot",
  method: "GET",
  path: "/index-snapshot",
  tag: TAG,
  summary: "Pull, probe or list snapshots",
  description:
    "With exactly one selector: pull, or with `probe=1` a summary without a URL. With `list=1` and no selector: every workspace of the tenant. Pull needs the shared-index opt-in; a workspace of another tenant is treated as one that does not exist.",
  credential: "api_key",
  surface: "index_snapshot",
  query: SnapshotQuery,
  queryError: "INVALID_SELECTOR",
  responses: {
    200: {
      description: "Depending on the mode: the manifest and a download URL, the summary, or the list.",
      schema: z.union([PullResponse, ProbeResponse, ListResponse]),
    },
  },
  errors: ["INVALID_SELECTOR", "NO_SNAPSHOT", "LOOKUP_FAILED", "SIGN_FAILED"],
  handle: async (c, { principal, query }) => {
    const asked = modeOf(query);
    const context = contextOf(c, principal.tenantId);
    if (asked.mode === "list") return c.json(await listSnapshots(context, principal));
    if (asked.mode === "pull") return c.json(await pullSnapshot(context, principal, asked.selector));
    const { embedder } = c.get("services");
    return c.json(await probeSnapshot(context, principal, asked.selector, embedder?.fingerprint));
  },
});

/** Publishes a snapshot in two calls. The artifact itself goes straight to storage. */
export const publishSnapshot = route({
  id: "publishSnapshot",
  method: "POST",
  path: "/index-snapshot",
  tag: TAG,
  summary: "Publish a snapshot: sign, upload, commit",
  description:
    "`sign` needs `sizeBytes`, in the body or in the manifest, and answers with a URL for one PUT of exactly that many bytes directly to the object store, with `uploadHeaders`; `commit` checks the upload and makes it the current snapshot. Both need the shared-index opt-in.",
  credential: "api_key",
  surface: "index_snapshot",
  body: {
    schema: PublishRequest,
    maxValues: MAX_MANIFEST_VALUES,
    example: {
      op: "sign",
      repo: "github.com/owner/name",
      manifest: {
        formatVersion: 4,
        gitSha: "a".repeat(40),
        checksum: `sha256:${"0".repeat(64)}`,
        compression: "none",
        fileCount: 1,
        symbolCount: 2,
        sizeBytes: 1_194_391,
        embedding: { fingerprint: `emb_${"0".repeat(32)}`, dimension: 256 },
      },
    },
    toError: bodyError,
  },
  responses: { 200: { description: "Depends on `op`.", schema: z.union([SignResponse, CommitResponse]) } },
  bodyErrors: ["INVALID_BODY", "INVALID_SELECTOR"],
  errors: [
    "SHARED_INDEX_DISABLED",
    "WORKSPACE_LIMIT",
    "STORAGE_LIMIT",
    "NO_WORKSPACE",
    "SNAPSHOT_CONFLICT",
    "LOOKUP_FAILED",
    "COMMIT_FAILED",
    "SIGN_UPLOAD_FAILED",
  ],
  handle: async (c, { principal, body }) => {
    const { tenantId, repos, credentialId: actor } = principal;
    const caller = { tenantId, repos, actor };
    return body.op === "sign"
      ? c.json(await signSnapshot(contextOf(c, principal.tenantId), caller, body))
      : c.json(await commitSnapshot(contextOf(c, principal.tenantId), caller, body));
  },
});

function contextOf(c: ApiContext, tenantId: string): SnapshotContext {
  const { presigner, storageLimitBytes, now } = c.get("services");
  return {
    db: databaseOf(c.env, tenantId),
    presigner,
    storageLimitBytes,
    now,
    bucket: c.env.SNAPSHOTS,
    log: c.get("log"),
  };
}

/** A malformed selector has its own error code, in bodies too. */
function bodyError(issues: FieldIssue[]): ApiError {
  const isSelector = issues.length > 0 && issues.every(({ path }) => path === "repo" || path === "workspaceId");
  return invalidBody(issues, isSelector ? "INVALID_SELECTOR" : "INVALID_BODY");
}
