import {
  IndexRequest,
  IndexResult,
  RunAccepted,
  RunStatus,
  SnapshotJobAccepted,
  SnapshotJobRequest,
} from "../../../contract/index.ts";
import type { Operation } from "../types.ts";

const WORKSPACE_ID = "7d9f2c1e-3b4a-4c5d-8e6f-0a1b2c3d4e5f";
const SOURCE = { type: "git", url: "https://github.com/owner/name.git", ref: "main" };

export const indexingOperations: Operation[] = [
  {
    id: "index",
    method: "POST",
    path: "/index",
    tag: "Hosted indexing",
    summary: "Index a Git workspace",
    description:
      "Answers when the run is done; with `Prefer: respond-async` at once. A client that leaves does not end its run. Unchanged files are not embedded again.",
    credential: "workerToken",
    surface: "index",
    parameters: [
      {
        name: "Prefer",
        in: "header",
        description: "`respond-async`: answer 202 at once, and follow the run at `Location`.",
        schema: { type: "string", enum: ["respond-async"] },
      },
    ],
    request: { schema: IndexRequest, example: { workspaceId: WORKSPACE_ID, source: SOURCE } },
    responses: {
      200: { description: "The run is done.", schema: IndexResult },
      202: {
        description: "The run has been accepted.",
        schema: RunAccepted,
        headers: { Location: "Where to follow the run." },
      },
    },
    errors: ["FORBIDDEN_WORKSPACE", "WORKSPACE_NOT_FOUND", "CLONE_FAILED", "EMBED_FAILED", "STORAGE_UNAVAILABLE"],
  },
  {
    id: "runStatus",
    method: "GET",
    path: "/index/{runId}",
    tag: "Hosted indexing",
    summary: "Follow a run",
    credential: "workerToken",
    surface: "index_status",
    parameters: [
      {
        name: "runId",
        in: "path",
        required: true,
        description: "From `POST /index` or `POST /snapshot`.",
        schema: { type: "string", format: "uuid" },
      },
    ],
    responses: {
      200: {
        description: "The state of the run; as events, one for each change until it has ended.",
        schema: RunStatus,
        also: { "text/event-stream": { type: "string", description: "Each event's data is a `RunStatus`." } },
      },
    },
    errors: ["RUN_NOT_FOUND", "STORAGE_UNAVAILABLE"],
  },
  {
    id: "startSnapshotJob",
    method: "POST",
    path: "/snapshot",
    tag: "Snapshots",
    summary: "Build and publish a snapshot of a commit",
    description: "The job runs in the background, one at a time; poll `GET /index-snapshot` for its result.",
    credential: "workerToken",
    surface: "snapshot",
    request: {
      schema: SnapshotJobRequest,
      example: {
        tenantId: "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
        workspaceId: WORKSPACE_ID,
        gitSha: "a".repeat(40),
        source: SOURCE,
      },
    },
    responses: { 202: { description: "The job has been accepted.", schema: SnapshotJobAccepted } },
    bodyErrors: ["BAD_TENANT_ID", "BAD_WORKSPACE_ID", "BAD_GIT_SHA", "BAD_SOURCE", "BAD_BODY"],
    errors: [
      "FORBIDDEN_WORKSPACE",
      "WORKSPACE_NOT_FOUND",
      "SHARED_INDEX_DISABLED",
      "SNAPSHOT_IN_PROGRESS",
      "NOT_CONFIGURED",
      "STORAGE_UNAVAILABLE",
    ],
  },
];
