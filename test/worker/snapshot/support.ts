/// <reference types="@cloudflare/vitest-plugin/types" />
import { createHash, randomBytes } from "node:crypto";
import { env } from "cloudflare:workers";
import type { SnapshotManifest } from "../../../src/contract/index.ts";
import { tenants } from "../../../src/service/db/schema.ts";
import { ApiError } from "../../../src/lib/errors.ts";
import { createLogger } from "../../../src/lib/log.ts";
import type { buildSnapshot } from "../../../src/service/snapshots/build.ts";
import { commitSnapshot } from "../../../src/service/snapshots/commit.ts";
import type { Publisher, SnapshotContext } from "../../../src/service/snapshots/context.ts";
import { createPresigner } from "../../../src/service/snapshots/presign.ts";
import { signSnapshot } from "../../../src/service/snapshots/sign.ts";
import { uploadKeyOf } from "../../../src/service/snapshots/storage.ts";
import { db } from "../support/tenants.ts";

export const bucket = env.SNAPSHOTS;
export const REPO = "github.com/acme/widgets";
export const GIT_SHA = "a".repeat(40);
export const FINGERPRINT = "emb_test";

/** Where a build finds the search index. */
type SearchSource = Pick<Parameters<typeof buildSnapshot>[0], "search" | "parser">;

/** A context whose clock the test moves. */
export function createContext(
  overrides: Partial<SnapshotContext> = {},
): SnapshotContext & SearchSource & { advance: (ms: number) => void } {
  let offset = 0;
  return {
    db,
    bucket,
    search: bucket,
    // No test has a text that would be parsed.
    parser: () => Promise.reject(new Error("nothing is parsed here")),
    presigner: createPresigner({
      endpoint: "https://store.example/bucket",
      accessKeyId: "id",
      secretAccessKey: "secret",
    }),
    storageLimitBytes: 10_000_000,
    now: () => Date.now() + offset,
    log: createLogger({}, () => undefined),
    advance: (ms) => {
      offset += ms;
    },
    ...overrides,
  };
}

export async function createCaller(sharedIndex = true): Promise<Publisher> {
  const tenantId = crypto.randomUUID();
  await db.insert(tenants).values({ id: tenantId, name: "test", sharedIndex });
  return { tenantId, actor: "test" };
}

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

export function artifact(size = 1_000): Uint8Array {
  return new Uint8Array(randomBytes(size));
}

export function manifestOf(bytes: Uint8Array, gitSha = GIT_SHA, extra: Record<string, unknown> = {}): SnapshotManifest {
  return {
    formatVersion: 1,
    gitSha,
    checksum: `sha256:${sha256(bytes)}`,
    compression: "gzip",
    fileCount: 3,
    symbolCount: 7,
    embedding: { fingerprint: FINGERPRINT, dimension: 4 },
    sizeBytes: bytes.length,
    ...extra,
  };
}

/** Signs, and puts `uploaded` (the artifact itself unless told otherwise) where the signed URL leads to. */
export async function signAndUpload(
  context: SnapshotContext,
  caller: Publisher,
  bytes: Uint8Array,
  options: { gitSha?: string; repo?: string; uploaded?: Uint8Array; extra?: Record<string, unknown> } = {},
): Promise<{ storagePath: string; manifest: SnapshotManifest; repo: string }> {
  const manifest = manifestOf(bytes, options.gitSha, options.extra);
  const repo = options.repo ?? REPO;
  const { storagePath } = await signSnapshot(context, caller, { op: "sign", manifest, repo });
  await bucket.put(uploadKeyOf(storagePath), options.uploaded ?? bytes);
  return { storagePath, manifest, repo };
}

export async function publish(
  context: SnapshotContext,
  caller: Publisher,
  bytes: Uint8Array,
  gitSha = GIT_SHA,
  repo = REPO,
): Promise<string> {
  const { manifest } = await signAndUpload(context, caller, bytes, { gitSha, repo });
  return (await commitSnapshot(context, caller, { op: "commit", manifest, sizeBytes: bytes.length, repo })).storagePath;
}

/** The code and body of the error that `work` is refused with. */
export async function refusal(work: Promise<unknown>): Promise<{ code: string; status: number; text: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ApiError)
      return { code: error.code, status: error.status, text: JSON.stringify(error.toBody()) };
    throw error;
  }
  throw new Error("expected a refusal");
}
