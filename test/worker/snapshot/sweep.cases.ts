import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { DOWNLOAD_URL_TTL_SEC, SNAPSHOTS_KEPT, UPLOAD_URL_TTL_SEC } from "../../../src/contract/index.ts";
import { snapshots, workspaces } from "../../../src/service/db/schema.ts";
import { commitSnapshot } from "../../../src/service/snapshots/commit.ts";
import { pullSnapshot } from "../../../src/service/snapshots/pull.ts";
import { signSnapshot } from "../../../src/service/snapshots/sign.ts";
import { sweepSnapshots } from "../../../src/service/snapshots/sweep.ts";
import { uploadKeyOf } from "../../../src/service/snapshots/storage.ts";
import { db } from "../support/tenants.ts";
import {
  artifact,
  bucket,
  createCaller,
  createContext,
  manifestOf,
  publish,
  refusal,
  REPO,
  signAndUpload,
} from "./support.ts";

const HOUR_MS = 3_600_000;
const selector = { repo: REPO };

const storedPaths = async (tenantId: string) =>
  (await db.select().from(snapshots).where(eq(snapshots.tenantId, tenantId))).map((row) => row.storagePath);

describe("the sweep", () => {
  it("keeps the last snapshots of a workspace and removes what came before, row and bytes", async () => {
    const context = createContext();
    const caller = await createCaller();
    const paths: string[] = [];
    for (let index = 0; index < SNAPSHOTS_KEPT + 3; index++) {
      paths.push(await publish(context, caller, artifact(), String(index).repeat(40)));
      context.advance(1_000);
    }
    context.advance(2 * HOUR_MS);
    await sweepSnapshots(context);
    const kept = paths.slice(-SNAPSHOTS_KEPT);
    expect((await storedPaths(caller.tenantId)).toSorted()).toEqual(kept.toSorted());
    for (const path of paths) expect((await bucket.head(path)) !== null).toBe(kept.includes(path));
    expect((await pullSnapshot(context, caller, selector)).manifest.gitSha).toBe(String(SNAPSHOTS_KEPT + 2).repeat(40));
  });

  it("spares what a signed URL still leads to, and writes at most once a lifetime for that", async () => {
    const context = createContext();
    const caller = await createCaller();
    const pulled = await publish(context, caller, artifact(), "0".repeat(40));
    context.advance(UPLOAD_URL_TTL_SEC * 1_000);
    const expiry = async () =>
      (await db.select().from(snapshots).where(eq(snapshots.storagePath, pulled)))[0]?.urlExpiresAt?.getTime();
    await pullSnapshot(context, caller, selector);
    const first = await expiry();
    context.advance((DOWNLOAD_URL_TTL_SEC / 2) * 1_000);
    await pullSnapshot(context, caller, selector);
    expect(await expiry()).toBe(first);
    context.advance((DOWNLOAD_URL_TTL_SEC / 2) * 1_000 + 1_000);
    const last = await pullSnapshot(context, caller, selector);
    expect(await expiry()).toBeGreaterThanOrEqual(context.now() + last.expiresIn * 1_000 - 1_000);

    for (let index = 1; index <= SNAPSHOTS_KEPT; index++)
      await publish(context, caller, artifact(), String(index).repeat(40));
    context.advance((last.expiresIn - 60) * 1_000);
    await sweepSnapshots(context);
    expect(await bucket.head(pulled)).not.toBeNull();
    context.advance(2 * DOWNLOAD_URL_TTL_SEC * 1_000);
    await sweepSnapshots(context);
    expect(await bucket.head(pulled)).toBeNull();
  });

  it("removes uploads that were never committed, once their URL has expired", async () => {
    const context = createContext();
    const caller = await createCaller();
    const bytes = artifact();
    const { manifest, storagePath } = await signAndUpload(context, caller, bytes);
    const commit = { op: "commit" as const, manifest, sizeBytes: bytes.length, ...selector };
    context.advance(UPLOAD_URL_TTL_SEC * 1_000 + 60_000);
    await sweepSnapshots(context);
    expect(await bucket.head(uploadKeyOf(storagePath))).not.toBeNull();
    context.advance(HOUR_MS);
    await sweepSnapshots(context);
    expect(await bucket.head(uploadKeyOf(storagePath))).toBeNull();
    expect(await storedPaths(caller.tenantId)).toEqual([]);
    expect((await refusal(commitSnapshot(context, caller, commit))).code).toBe("INVALID_BODY");
  });

  it("finishes what an earlier sweep began, and finds bytes without a row", async () => {
    const context = createContext();
    const caller = await createCaller();
    const path = await publish(context, caller, artifact());
    await bucket.put(uploadKeyOf(path), "put again after the commit");
    const other = await createCaller();
    const lost = await publish(context, other, artifact());
    await db.delete(workspaces).where(eq(workspaces.tenantId, other.tenantId));
    const { storagePath: removed } = await signSnapshot(context, caller, {
      op: "sign",
      manifest: manifestOf(artifact()),
      ...selector,
    });
    await bucket.put(removed, "half swept");
    await db.update(snapshots).set({ state: "deleted" }).where(eq(snapshots.storagePath, removed));

    await sweepSnapshots(context);
    expect(await bucket.head(removed)).toBeNull();
    expect(await bucket.head(lost)).not.toBeNull();
    context.advance(25 * HOUR_MS);
    await sweepSnapshots(context);
    expect(await bucket.head(lost)).toBeNull();
    expect(await bucket.head(uploadKeyOf(path))).toBeNull();
    expect(await bucket.head(path)).not.toBeNull();
    expect(await storedPaths(caller.tenantId)).toEqual([path]);
  });
});
