import * as z from "zod";
import { SourceSchema, Uuid } from "./indexing.ts";
import { MAX_SNAPSHOT_BYTES } from "./limits.ts";
import { checkJson, nonEmptyText, repoText, text } from "./text.ts";

const count = z.int().min(0);
const gitSha = z
  .string()
  .regex(/^[0-9a-fA-F]{7,64}$/, "must be a commit SHA in hex")
  .toLowerCase();
const fullGitSha = z
  .string()
  .regex(/^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/, "must be a full commit SHA in hex")
  .toLowerCase();

const flag = z.enum(["0", "1"]).optional();

/** Query of `GET /index-snapshot`. */
export const SnapshotQuery = z.object({
  workspaceId: text.max(100).optional().describe("Selector: UUID of the workspace."),
  repo: repoText
    .optional()
    .describe("Selector: the repo identity, such as `github.com/owner/name`; any clone URL form is normalised."),
  probe: flag.describe("`1`: a summary only. A miss is 200 with `exists` false."),
  list: flag.describe("`1`: every workspace of the tenant."),
});
export type SnapshotQuery = z.output<typeof SnapshotQuery>;

/** Beyond every artifact: a sum of many manifests must stay exact. */
const MAX_MANIFEST_NUMBER = 2 ** 31 - 1;

/** Description of an artifact. Unknown fields are stored and returned unchanged. */
export const SnapshotManifest = z
  .looseObject({
    formatVersion: z.int().min(1).max(MAX_MANIFEST_NUMBER),
    gitSha,
    checksum: z.string().regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 lower-case hex digits"),
    compression: nonEmptyText.max(40),
    fileCount: count.max(MAX_MANIFEST_NUMBER),
    symbolCount: count.max(MAX_MANIFEST_NUMBER),
    embedding: z.looseObject({
      fingerprint: nonEmptyText.max(200),
      dimension: z.int().positive().max(MAX_MANIFEST_NUMBER),
    }),
    sizeBytes: z.int().min(1).max(MAX_SNAPSHOT_BYTES).optional(),
  })
  // The manifest is stored whole, including unknown fields.
  .superRefine(checkJson)
  .meta({ id: "SnapshotManifest" });
export type SnapshotManifest = z.infer<typeof SnapshotManifest>;

const repo = repoText.min(1).optional().describe("Repo identity, host/owner/name; any clone URL form is normalised.");

const selector = { repo, workspaceId: Uuid.optional() };

export const SignRequest = z
  .object({
    op: z.literal("sign"),
    manifest: SnapshotManifest,
    ...selector,
    sizeBytes: z.int().min(1).max(MAX_SNAPSHOT_BYTES).optional(),
  })
  .meta({ id: "SignRequest" });
export type SignRequest = z.infer<typeof SignRequest>;

export const CommitRequest = z
  .object({
    op: z.literal("commit"),
    manifest: SnapshotManifest,
    ...selector,
    sizeBytes: z.int().min(1).max(MAX_SNAPSHOT_BYTES),
    storagePath: nonEmptyText
      .max(500)
      .optional()
      .describe("From sign; needed only if the same bytes were signed more than once."),
    expectedGitSha: gitSha
      .nullable()
      .optional()
      .describe("Commit only if this is the current snapshot (null: only if there is none)."),
  })
  .meta({ id: "CommitRequest" });
export type CommitRequest = z.infer<typeof CommitRequest>;

export const PublishRequest = z.discriminatedUnion("op", [SignRequest, CommitRequest]).meta({ id: "PublishRequest" });
export type PublishRequest = z.infer<typeof PublishRequest>;

export const SignResponse = z
  .object({
    ok: z.literal(true),
    uploadUrl: z.string(),
    storagePath: z.string(),
    uploadHeaders: z.record(z.string(), z.string()).describe("Headers the PUT must carry."),
    expiresIn: count,
  })
  .meta({ id: "SignResponse" });
export type SignResponse = z.infer<typeof SignResponse>;

export const CommitResponse = z
  .object({ ok: z.literal(true), storagePath: z.string(), gitSha: z.string() })
  .meta({ id: "CommitResponse" });
export type CommitResponse = z.infer<typeof CommitResponse>;

export const PullResponse = z
  .object({ ok: z.literal(true), manifest: SnapshotManifest, signedUrl: z.string(), expiresIn: count })
  .meta({ id: "PullResponse" });
export type PullResponse = z.infer<typeof PullResponse>;

export const ProbeResponse = z
  .union([
    z.object({ ok: z.literal(true), exists: z.literal(false) }),
    z.object({
      ok: z.literal(true),
      exists: z.literal(true),
      gitSha: z.string(),
      builtAt: z.iso.datetime(),
      sizeBytes: count,
      fileCount: count,
      symbolCount: count,
      embeddingModel: z.string().describe("The fingerprint the vectors were made with."),
      isCurrent: z.boolean(),
    }),
  ])
  .meta({ id: "ProbeResponse" });
export type ProbeResponse = z.infer<typeof ProbeResponse>;

export const RosterEntry = z.object({
  workspaceId: z.string(),
  repo: z.string().nullable(),
  defaultBranch: z.string().nullable(),
  inCloud: z.boolean(),
  gitSha: z.string().nullable(),
  builtAt: z.iso.datetime().nullable(),
  sizeBytes: count.nullable(),
  fileCount: count.nullable(),
  symbolCount: count.nullable(),
});
export type RosterEntry = z.infer<typeof RosterEntry>;

export const ListResponse = z
  .object({ ok: z.literal(true), workspaces: z.array(RosterEntry), sharedIndexEnabled: z.boolean() })
  .meta({ id: "ListResponse" });
export type ListResponse = z.infer<typeof ListResponse>;

/** Body of the CI publish route. Each rejected field has its own error code. */
export const SnapshotJobRequest = z
  .object({
    tenantId: Uuid,
    workspaceId: Uuid,
    gitSha: fullGitSha,
    source: SourceSchema,
    repoUrl: repoText.optional(),
  })
  .meta({ id: "SnapshotJobRequest" });
export type SnapshotJobRequest = z.infer<typeof SnapshotJobRequest>;

/** `runId` names the job for `GET /index/{runId}`. */
export const SnapshotJobAccepted = z
  .object({ ok: z.literal(true), accepted: z.literal(true), runId: z.string() })
  .meta({ id: "SnapshotJobAccepted" });
export type SnapshotJobAccepted = z.infer<typeof SnapshotJobAccepted>;
