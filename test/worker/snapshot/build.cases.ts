import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { snapshots } from "../../../src/service/db/schema.ts";
import { openSnapshot } from "../../../src/engines/snapshot/reader.ts";
import type { SnapshotFile } from "../../../src/engines/snapshot/types.ts";
import { writeSnapshot } from "../../../src/engines/snapshot/writer.ts";
import { StalePlanError } from "../../../src/service/indexing/context.ts";
import { buildSnapshot } from "../../../src/service/snapshots/build.ts";
import { probeSnapshot, pullSnapshot } from "../../../src/service/snapshots/pull.ts";
import {
  collect,
  DIMENSION,
  FIXTURE_CHECKSUM,
  fixtureFiles,
  IDENTITY,
  memorySink,
  sourceOf,
} from "../../node/snapshot/fixture.ts";
import { db } from "../support/tenants.ts";
import { seedRevision } from "./seed.ts";
import { artifact, bucket, createCaller, createContext, publish, refusal } from "./support.ts";

const REVISION = { gitSha: IDENTITY.gitSha };

async function expected(files: SnapshotFile[]): Promise<string> {
  return (await writeSnapshot(sourceOf(files), memorySink().write)).checksum;
}

async function objectsOf(snapshotId: string): Promise<string[]> {
  const page = await bucket.list({ prefix: `snapshots/${snapshotId}/` });
  return page.objects.map((object) => object.key);
}

describe("the writer in a Worker", () => {
  it("writes the bytes that it writes elsewhere", async () => {
    expect(await expected(fixtureFiles())).toBe(FIXTURE_CHECKSUM);
  });
});

describe("a hosted build", () => {
  it("gives the same bytes as a build from the same index anywhere else, and publishes them", async () => {
    const context = createContext();
    const caller = await createCaller();
    const files = fixtureFiles();
    const workspaceId = await seedRevision(caller.tenantId, files);
    const progress: number[] = [];
    const built = await buildSnapshot(context, {
      ...caller,
      workspaceId,
      runId: crypto.randomUUID(),
      revision: REVISION,
      onProgress: ({ filesDone }) => void progress.push(filesDone),
    });
    expect(built).toMatchObject({ checksum: FIXTURE_CHECKSUM, gitSha: IDENTITY.gitSha, fileCount: files.length });
    const { manifest } = await pullSnapshot(context, caller, { workspaceId });
    expect(manifest).toMatchObject({
      checksum: FIXTURE_CHECKSUM,
      sizeBytes: built.sizeBytes,
      embedding: { fingerprint: IDENTITY.fingerprint, dimension: DIMENSION },
    });
    const object = (await bucket.get(built.storagePath)) ?? expect.fail("no artifact");
    const bytes = new Uint8Array(await object.arrayBuffer());
    const reader = await openSnapshot({
      byteLength: bytes.length,
      read: async (start, end) => bytes.subarray(start, end),
    });
    expect((await collect(reader.files())).map((file) => file.path)).toEqual(files.map((file) => file.path));
    expect(await probeSnapshot(context, caller, { workspaceId }, IDENTITY.fingerprint)).toMatchObject({
      isCurrent: true,
      fileCount: files.length,
    });
  });

  it("is of the same commit without its uses where the search index and the texts are gone", async () => {
    const context = createContext();
    const caller = await createCaller();
    const files = fixtureFiles(5);
    const workspaceId = await seedRevision(caller.tenantId, files);
    const { objects } = await bucket.list({ prefix: `search/${caller.tenantId}/` });
    expect(objects).not.toHaveLength(0);
    await bucket.delete(objects.map(({ key }) => key));
    const built = await buildSnapshot(context, {
      ...caller,
      workspaceId,
      runId: crypto.randomUUID(),
      revision: REVISION,
    });
    const without = files.map((file) => Object.assign({}, file, { uses: [], usesRecord: undefined }));
    expect(built.checksum).toBe(await expected(without));
  });

  it("does nothing twice, not even after something newer became current", async () => {
    const context = createContext();
    const caller = await createCaller();
    const repo = "github.com/acme/built";
    const workspaceId = await seedRevision(caller.tenantId, fixtureFiles(5), repo);
    const request = { ...caller, workspaceId, runId: crypto.randomUUID(), revision: REVISION };
    const [first, second] = await Promise.all([buildSnapshot(context, request), buildSnapshot(context, request)]);
    expect(second).toEqual(first);
    expect(await objectsOf(first.snapshotId)).toEqual([first.storagePath]);
    const newer = artifact();
    await publish(context, caller, newer, "9".repeat(40), repo);
    expect(await buildSnapshot(context, request)).toEqual(first);
    expect((await pullSnapshot(context, caller, { workspaceId })).manifest.gitSha).toBe("9".repeat(40));
  });

  it("keeps the old snapshot when it fails or is given up, and succeeds when called again", async () => {
    const context = createContext();
    const caller = await createCaller();
    const workspaceId = await seedRevision(caller.tenantId, fixtureFiles(5));
    const request = { ...caller, workspaceId, runId: crypto.randomUUID(), revision: REVISION };
    await expect(
      buildSnapshot(context, { ...request, signal: AbortSignal.abort(new Error("given up")) }),
    ).rejects.toThrow("given up");
    for (const step of ["uploadPart", "complete"]) {
      const failing = createContext({
        bucket: new Proxy(bucket, {
          get: (target, name) => {
            const value = Reflect.get(target, name) as unknown;
            if (name !== "createMultipartUpload") return typeof value === "function" ? value.bind(target) : value;
            return async (...args: Parameters<R2Bucket["createMultipartUpload"]>) => {
              const upload = await target.createMultipartUpload(...args);
              return new Proxy(upload, {
                get: (part, key) => {
                  if (key === step) return () => Promise.reject(new Error("the store is away"));
                  const inner = Reflect.get(part, key) as unknown;
                  return typeof inner === "function" ? inner.bind(part) : inner;
                },
              });
            };
          },
        }),
      });
      await expect(buildSnapshot(failing, request)).rejects.toThrow("the store is away");
    }
    expect((await refusal(pullSnapshot(context, caller, { workspaceId }))).code).toBe("NO_SNAPSHOT");
    const built = await buildSnapshot(context, request);
    expect(built.checksum).toBe(await expected(fixtureFiles(5)));
    expect(await db.select().from(snapshots).where(eq(snapshots.workspaceId, workspaceId))).toHaveLength(1);
  });

  it("knows a revision that is not there, or not all there", async () => {
    const context = createContext();
    const [caller, stranger] = [await createCaller(), await createCaller()];
    const workspaceId = await seedRevision(caller.tenantId, fixtureFiles(5));
    const request = { ...caller, workspaceId, runId: crypto.randomUUID(), revision: REVISION };
    await expect(buildSnapshot(context, { ...request, revision: { gitSha: "7".repeat(40) } })).rejects.toThrow(
      StalePlanError,
    );
    await expect(buildSnapshot(context, { ...request, ...stranger })).rejects.toThrow(StalePlanError);
    await db.execute(
      sql`delete from revision_files where workspace_id = ${workspaceId}::uuid and path = ${fixtureFiles(5)[0]?.path}`,
    );
    await expect(buildSnapshot(context, request)).rejects.toThrow("removed while it was read");
    expect((await refusal(pullSnapshot(context, caller, { workspaceId }))).code).toBe("NO_SNAPSHOT");
  });
});
