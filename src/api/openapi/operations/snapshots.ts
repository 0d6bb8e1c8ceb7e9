import * as z from "zod";
import {
  CommitResponse,
  ListResponse,
  ProbeResponse,
  PublishRequest,
  PullResponse,
  SignResponse,
} from "../../../contract/index.ts";
import type { Operation } from "../types.ts";

const CHECKSUM = `sha256:${"0".repeat(64)}`;

export const snapshotOperations: Operation[] = [
  {
    id: "readSnapshot",
    method: "GET",
    path: "/index-snapshot",
    tag: "Snapshots",
    summary: "Pull, probe or list snapshots",
    description:
      "With exactly one selector: pull, or with `probe=1` a summary without a URL. With `list=1` and no selector: every workspace of the tenant. Pull needs the shared-index opt-in; a workspace of another tenant is as one that does not exist.",
    credential: "apiKey",
    surface: "index_snapshot",
    parameters: [
      {
        name: "workspaceId",
        in: "query",
        description: "Selector: the workspace.",
        schema: { type: "string", format: "uuid" },
      },
      {
        name: "repo",
        in: "query",
        description: "Selector: the repo identity, such as `github.com/owner/name`; any clone URL form is normalised.",
        schema: { type: "string" },
      },
      {
        name: "probe",
        in: "query",
        description: "`1`: a summary only. A miss is 200 with `exists` false.",
        schema: { type: "string", enum: ["0", "1"] },
      },
      {
        name: "list",
        in: "query",
        description: "`1`: every workspace of the tenant.",
        schema: { type: "string", enum: ["0", "1"] },
      },
    ],
    responses: {
      200: {
        description: "By mode: the manifest and a download URL, the summary, or the list.",
        schema: z.union([PullResponse, ProbeResponse, ListResponse]),
      },
    },
    errors: ["INVALID_SELECTOR", "NO_SNAPSHOT", "LOOKUP_FAILED", "SIGN_FAILED"],
  },
  {
    id: "publishSnapshot",
    method: "POST",
    path: "/index-snapshot",
    tag: "Snapshots",
    summary: "Publish a snapshot: sign, upload, commit",
    description:
      "`sign` needs `sizeBytes`, in the body or in the manifest, and answers with a URL for one PUT of exactly so many bytes straight to storage, with `uploadHeaders`; `commit` checks what arrived and makes it the current snapshot. Both need the shared-index opt-in.",
    credential: "apiKey",
    surface: "index_snapshot",
    request: {
      schema: PublishRequest,
      example: {
        op: "sign",
        repo: "github.com/owner/name",
        sizeBytes: 1_194_391,
        manifest: {
          formatVersion: 2,
          gitSha: "a".repeat(40),
          checksum: CHECKSUM,
          compression: "none",
          fileCount: 1,
          symbolCount: 2,
          embedding: { fingerprint: `emb_${"0".repeat(32)}`, dimension: 256 },
        },
      },
    },
    responses: { 200: { description: "By `op`.", schema: z.union([SignResponse, CommitResponse]) } },
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
  },
];
