import * as z from "zod";
import {
  DEFAULT_MAX_FILE_SIZE_BYTES,
  MAX_FILE_SIZE_BYTES,
  MAX_GLOB_CHARACTERS,
  MAX_GLOBS_CHARACTERS,
  MAX_LIST_VALUES,
} from "./limits.ts";
import { nonEmptyText, numberParameter, text } from "./text.ts";

/** A UUID of any version and variant: ids may come from other systems. */
export const Uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, "must be a UUID")
  .transform((id) => id.toLowerCase());

const TOO_MANY_GLOBS = `must have at most ${MAX_GLOBS_CHARACTERS} characters in all globs together`;

const globs = z
  .array(nonEmptyText.max(MAX_GLOB_CHARACTERS))
  .max(MAX_LIST_VALUES)
  .refine((all) => all.reduce((sum, glob) => sum + glob.length, 0) <= MAX_GLOBS_CHARACTERS, TOO_MANY_GLOBS);

export const SourceSchema = z
  .object({
    type: z.literal("git", { error: 'must be "git"; "local" and "s3" are planned' }),
    url: text.min(1, "must be an HTTPS clone URL").max(2_000).describe("HTTPS clone URL, without credentials."),
    ref: nonEmptyText.max(500).optional().describe("Branch, tag or commit SHA; default: the remote's HEAD."),
    auth: z
      .object({
        type: z.literal("token", { error: 'must be "token"' }).optional(),
        token: nonEmptyText.max(4_096).optional().describe("Read access to a private repository."),
        username: nonEmptyText.max(200).optional().describe("User name of the token, if the host wants a special one."),
      })
      .optional()
      .describe("Without a token it is ignored."),
  })
  .meta({ id: "Source" });
export type Source = z.infer<typeof SourceSchema>;

export const IndexOptions = z
  .object({
    include: globs.optional().describe("Glob allow-list; default: the extensions of every known language."),
    exclude: globs.optional().describe("Glob deny-list, applied after include."),
    maxFileSizeBytes: z
      .int()
      .min(1)
      .default(DEFAULT_MAX_FILE_SIZE_BYTES)
      .transform((bytes) => Math.min(bytes, MAX_FILE_SIZE_BYTES))
      .describe("Larger files are skipped; so are files above 4 MiB, whatever it says."),
    current: z
      .boolean()
      .optional()
      .describe("false: index the ref beside what is searched by default, and leave that as it is. Default: true."),
  })
  .meta({ id: "IndexOptions" });
export type IndexOptions = z.infer<typeof IndexOptions>;

export const IndexRequest = z
  .object({
    workspaceId: Uuid,
    source: SourceSchema,
    options: IndexOptions.default({ maxFileSizeBytes: DEFAULT_MAX_FILE_SIZE_BYTES }),
  })
  .meta({ id: "IndexRequest" });
export type IndexRequest = z.infer<typeof IndexRequest>;

const count = z.int().min(0);

export const IndexResult = z
  .object({
    ok: z.literal(true),
    runId: z.string(),
    fileCount: count.describe("Files of the indexed revision."),
    symbolCount: count,
    chunkCount: count,
    embeddedCount: count.describe("Chunks embedded by this run."),
    skippedUnchanged: count.describe(
      "Files of the revision whose content, by its SHA-256, the tenant had indexed before this run, in whatever workspace, branch or path.",
    ),
    embedMs: count.describe("Time spent embedding, in milliseconds."),
    region: z.string(),
    gitSha: z.string().describe("Commit that was indexed."),
    redactedCount: count.describe("Chunks withheld because they may hold a secret."),
    fallbackCount: count.describe("Files that could not be parsed as their language and got plain chunks."),
    partialCount: count.describe("Files parsed as their language, except lines that the parser could not read."),
    skipped: z
      .record(z.string(), count)
      .describe("Files left out, by reason; every file of the commit is either counted here or indexed."),
    searchedOnlyCount: count
      .optional()
      .describe(
        "Files of `skipped` whose text is searched by `grep` all the same. Absent in results of earlier versions.",
      ),
  })
  .meta({ id: "IndexResult" });
export type IndexResult = z.infer<typeof IndexResult>;

export const RunAccepted = z
  .object({ ok: z.literal(true), accepted: z.literal(true), runId: z.string() })
  .meta({ id: "RunAccepted" });
export type RunAccepted = z.infer<typeof RunAccepted>;

const RUN_PHASES = ["queued", "pulling", "indexing", "finishing", "building", "done"] as const;
export type RunPhase = (typeof RUN_PHASES)[number];

export const RunStatus = z
  .object({
    ok: z.literal(true),
    runId: z.string(),
    state: z.enum(["queued", "running", "succeeded", "failed", "cancelled"]),
    progress: z.object({
      filesDone: count,
      filesTotal: count,
      phase: z.enum(RUN_PHASES),
      silentSec: count
        .optional()
        .describe(
          "Seconds in which the run has made no progress, if more than a few: while pulling, the Git host sends nothing.",
        ),
    }),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z
      .object({ code: z.string(), error: z.string(), details: z.record(z.string(), z.unknown()).optional() })
      .optional(),
  })
  .meta({ id: "RunStatus" });
export type RunStatus = z.infer<typeof RunStatus>;

const DEFAULT_RUNS_LISTED = 20;
const MAX_RUNS_LISTED = 100;

/** Query of `GET /index`. */
export const ListRunsQuery = z.object({
  workspaceId: Uuid.describe("The workspace."),
  limit: numberParameter(1, MAX_RUNS_LISTED).default(DEFAULT_RUNS_LISTED).describe("Runs at most."),
});

export const RunListItem = RunStatus.extend({
  kind: z.enum(["index", "snapshot"]),
  ref: z.string().nullable().describe("As it was asked for; null for the remote's HEAD."),
  createdAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
}).meta({ id: "RunListItem" });
export type RunListItem = z.infer<typeof RunListItem>;

export const RunList = z.object({ ok: z.literal(true), runs: z.array(RunListItem) }).meta({ id: "RunList" });
export type RunList = z.infer<typeof RunList>;
