import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { MAX_PROVISIONED_WORKSPACES } from "../../../src/contract/index.ts";
import { auditEvents } from "../../../src/service/db/records-schema.ts";
import { snapshots, tenants, workspaces } from "../../../src/service/db/schema.ts";
import { commitSnapshot } from "../../../src/service/snapshots/commit.ts";
import { listSnapshots, probeSnapshot, pullSnapshot } from "../../../src/service/snapshots/pull.ts";
import { signSnapshot } from "../../../src/service/snapshots/sign.ts";
import { uploadKeyOf } from "../../../src/service/snapshots/storage.ts";
import { db } from "../support/tenants.ts";
import {
  artifact,
  bucket,
  createCaller,
  createContext,
  FINGERPRINT,
  GIT_SHA,
  manifestOf,
  publish,
  refusal,
  REPO,
  sha256,
  signAndUpload,
} from "./support.ts";

const selector = { repo: REPO };

/** The bytes that a pull leads to. */
async function served(tenantId: string): Promise<string> {
  const { signedUrl, manifest } = await pullSnapshot(createContext(), { tenantId }, selector);
  const key = decodeURIComponent(new URL(signedUrl).pathname).replace("/bucket/", "");
  const object = await bucket.get(key);
  const found = sha256(new Uint8Array(await (object ?? expect.fail("nothing at the signed URL")).arrayBuffer()));
  expect(`sha256:${found}`).toBe(manifest.checksum);
  return found;
}

describe("publishing", () => {
  it("signs, commits and serves; unknown manifest fields come back", async () => {
    const context = createContext();
    const caller = await createCaller();
    const bytes = artifact();
    const { manifest, storagePath } = await signAndUpload(context, caller, bytes, {
      extra: { note: { über: [1, "x", null] } },
    });
    const request = {
      op: "commit" as const,
      manifest,
      sizeBytes: bytes.length,
      repo: "https://GitHub.com/Acme/Widgets.git",
    };
    expect(await commitSnapshot(context, caller, request)).toEqual({ ok: true, storagePath, gitSha: GIT_SHA });
    const pulled = await pullSnapshot(context, caller, selector);
    expect(pulled.manifest).toEqual(manifest);
    expect(pulled.expiresIn).toBeGreaterThan(0);
    expect(await served(caller.tenantId)).toBe(sha256(bytes));
    expect(await bucket.head(uploadKeyOf(storagePath))).toBeNull();
    const events = await db.select().from(auditEvents).where(eq(auditEvents.tenantId, caller.tenantId));
    expect(events.map((event) => event.event).toSorted()).toEqual(["SNAPSHOT_PUBLISHED", "WORKSPACE_CREATED"]);
  });

  it("answers a repeated commit as the first, also when another snapshot is current by then", async () => {
    const context = createContext();
    const caller = await createCaller();
    const [first, second] = [artifact(), artifact()];
    const { manifest, storagePath } = await signAndUpload(context, caller, first);
    const request = { op: "commit" as const, manifest, sizeBytes: first.length, ...selector };
    const answer = await commitSnapshot(context, caller, request);
    expect(await commitSnapshot(context, caller, request)).toEqual(answer);
    await publish(context, caller, second, "b".repeat(40));
    expect(await commitSnapshot(context, caller, { ...request, storagePath, expectedGitSha: null })).toEqual(answer);
    expect(await served(caller.tenantId)).toBe(sha256(second));
  });

  it.each([
    ["nothing was uploaded", undefined],
    ["other bytes of the same length", (bytes: Uint8Array) => bytes.map((byte) => byte ^ 1)],
    ["fewer bytes", (bytes: Uint8Array) => bytes.subarray(1)],
    ["no bytes", () => new Uint8Array()],
  ])("keeps the old snapshot when %s", async (_what, spoil) => {
    const context = createContext();
    const caller = await createCaller();
    const old = artifact();
    await publish(context, caller, old);
    const bytes = artifact();
    const { manifest, storagePath } = await signAndUpload(context, caller, bytes, {
      gitSha: "c".repeat(40),
      uploaded: spoil?.(bytes) ?? bytes,
    });
    if (spoil === undefined) await bucket.delete(uploadKeyOf(storagePath));
    const request = { op: "commit" as const, manifest, sizeBytes: bytes.length, ...selector };
    expect(await refusal(commitSnapshot(context, caller, request))).toMatchObject({
      code: "INVALID_BODY",
      status: 400,
    });
    expect(await served(caller.tenantId)).toBe(sha256(old));
    expect(await bucket.head(storagePath)).toBeNull();
    // Put right, the same signature can still be committed.
    await bucket.put(uploadKeyOf(storagePath), bytes);
    await commitSnapshot(context, caller, request);
    expect(await served(caller.tenantId)).toBe(sha256(bytes));
  });

  it("never serves bytes that were exchanged after the commit", async () => {
    const context = createContext();
    const caller = await createCaller();
    const bytes = artifact();
    const { manifest, storagePath } = await signAndUpload(context, caller, bytes);
    const request = { op: "commit" as const, manifest, sizeBytes: bytes.length, ...selector };
    await commitSnapshot(context, caller, request);
    // The upload URL is valid for minutes still, and leads to this key only.
    await bucket.put(uploadKeyOf(storagePath), artifact());
    await commitSnapshot(context, caller, request);
    expect(await served(caller.tenantId)).toBe(sha256(bytes));
  });

  it("refuses a commit that contradicts what was signed", async () => {
    const context = createContext();
    const caller = await createCaller();
    const bytes = artifact();
    const { manifest, storagePath } = await signAndUpload(context, caller, bytes, { extra: { sizeBytes: 1_000 } });
    const request = { op: "commit" as const, manifest, sizeBytes: bytes.length, storagePath, ...selector };
    for (const wrong of [
      { ...request, sizeBytes: 999 },
      { ...request, manifest: manifestOf(bytes, "d".repeat(40)) },
      { ...request, manifest: manifestOf(artifact()) },
      { ...request, storagePath: `${storagePath}x` },
      { ...request, storagePath: undefined, manifest: manifestOf(artifact()) },
    ]) {
      expect((await refusal(commitSnapshot(context, caller, wrong as typeof request))).code).toBe("INVALID_BODY");
    }
    await commitSnapshot(context, caller, request);
  });

  it("takes the upload that is there when the same bytes were signed more than once", async () => {
    const context = createContext();
    const caller = await createCaller();
    const bytes = artifact();
    const { manifest, storagePath } = await signAndUpload(context, caller, bytes);
    await signSnapshot(context, caller, { op: "sign", manifest, ...selector });
    const answer = await commitSnapshot(context, caller, {
      op: "commit",
      manifest,
      sizeBytes: bytes.length,
      ...selector,
    });
    expect(answer.storagePath).toBe(storagePath);
  });

  it("compares and swaps", async () => {
    const context = createContext();
    const caller = await createCaller();
    const bytes = [artifact(), artifact(), artifact()];
    const commit = async (index: number, expectedGitSha: string | null) => {
      const content = bytes[index] as Uint8Array;
      const { manifest } = await signAndUpload(context, caller, content, { gitSha: String(index).repeat(40) });
      return commitSnapshot(context, caller, {
        op: "commit",
        manifest,
        sizeBytes: content.length,
        ...selector,
        expectedGitSha,
      });
    };
    expect((await refusal(commit(0, "f".repeat(40)))).code).toBe("SNAPSHOT_CONFLICT");
    await commit(0, null);
    const conflict = await refusal(commit(1, null));
    expect(conflict).toMatchObject({ code: "SNAPSHOT_CONFLICT", status: 409 });
    expect(conflict.text).toContain(`"currentGitSha":"${"0".repeat(40)}"`);
    await commit(1, "0".repeat(40));
    expect((await refusal(commit(2, "0".repeat(40)))).code).toBe("SNAPSHOT_CONFLICT");
    expect(await served(caller.tenantId)).toBe(sha256(bytes[1] as Uint8Array));
  });

  it("ends with one complete snapshot after 50 concurrent commits, and lets one of 20 competing ones win", async () => {
    const context = createContext();
    const caller = await createCaller();
    const all = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const bytes = artifact(2_000);
        return {
          bytes,
          ...(await signAndUpload(context, caller, bytes, { gitSha: index.toString(16).padStart(40, "0") })),
        };
      }),
    );
    await Promise.all(
      all.map(({ manifest, bytes }) =>
        commitSnapshot(context, caller, { op: "commit", manifest, sizeBytes: bytes.length, ...selector }),
      ),
    );
    expect(all.map(({ bytes }) => sha256(bytes))).toContain(await served(caller.tenantId));
    expect(await db.select().from(snapshots).where(eq(snapshots.tenantId, caller.tenantId))).toSatisfy(
      (rows: { state: string }[]) => rows.length === 50 && rows.every((row) => row.state === "committed"),
    );

    const { manifest: current } = await pullSnapshot(context, caller, selector);
    const rivals = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        signAndUpload(context, caller, artifact(), { gitSha: (index + 100).toString(16).padStart(40, "0") }),
      ),
    );
    const outcomes = await Promise.allSettled(
      rivals.map(({ manifest }) =>
        commitSnapshot(context, caller, {
          op: "commit",
          manifest,
          sizeBytes: 1_000,
          ...selector,
          expectedGitSha: current.gitSha,
        }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(1);
  });

  it("leaves the old snapshot current when killed at any step, and finishes when asked again", async () => {
    const caller = await createCaller();
    const old = artifact();
    await publish(createContext(), caller, old);
    for (const step of ["get", "put", "delete"] as const) {
      const bytes = artifact();
      const broken = createContext({
        bucket: new Proxy(bucket, {
          get: (target, name) => {
            if (name === step) return () => Promise.reject(new Error("the store is away"));
            const value = Reflect.get(target, name) as unknown;
            return typeof value === "function" ? value.bind(target) : value;
          },
        }),
      });
      const { manifest } = await signAndUpload(createContext(), caller, bytes, { gitSha: "e".repeat(40) });
      const request = { op: "commit" as const, manifest, sizeBytes: bytes.length, ...selector };
      if (step === "delete") {
        await commitSnapshot(broken, caller, request);
      } else {
        const before = await served(caller.tenantId);
        expect((await refusal(commitSnapshot(broken, caller, request))).code).toBe("COMMIT_FAILED");
        expect(await served(caller.tenantId)).toBe(before);
        await commitSnapshot(createContext(), caller, request);
      }
      expect(await served(caller.tenantId)).toBe(sha256(bytes));
    }
  });
});

describe("selectors and tenants", () => {
  it("tells nothing apart that is not the caller's", async () => {
    const context = createContext();
    const [owner, stranger] = [await createCaller(), await createCaller()];
    const bytes = artifact();
    const storagePath = await publish(context, owner, bytes);
    const [workspace] = await db.select().from(workspaces).where(eq(workspaces.tenantId, owner.tenantId));
    const theirs = { workspaceId: workspace?.id ?? "" };
    const missing = { workspaceId: crypto.randomUUID() };
    const manifest = manifestOf(bytes);
    const commit = { op: "commit" as const, manifest, sizeBytes: bytes.length };

    for (const attempt of [
      (selector: typeof theirs) => refusal(pullSnapshot(context, stranger, selector)),
      (selector: typeof theirs) => probeSnapshot(context, stranger, selector, FINGERPRINT),
      (selector: typeof theirs) => refusal(signSnapshot(context, stranger, { op: "sign", manifest, ...selector })),
      (selector: typeof theirs) => refusal(commitSnapshot(context, stranger, { ...commit, ...selector, storagePath })),
    ]) {
      expect(await attempt(theirs)).toEqual(await attempt(missing));
    }
    expect((await refusal(pullSnapshot(context, stranger, theirs))).code).toBe("NO_SNAPSHOT");
    expect((await refusal(signSnapshot(context, stranger, { op: "sign", manifest, ...theirs }))).code).toBe(
      "NO_WORKSPACE",
    );
    expect(await listSnapshots(context, stranger)).toMatchObject({ workspaces: [] });

    // A repository of the same name is the stranger's own; the owner's path and bytes do not help there.
    await signSnapshot(context, stranger, { op: "sign", manifest, ...selector });
    const guess = await refusal(commitSnapshot(context, stranger, { ...commit, ...selector, storagePath }));
    const invented = await refusal(
      commitSnapshot(context, stranger, { ...commit, ...selector, storagePath: "snapshots/none" }),
    );
    expect(guess).toEqual(invented);
    expect((await refusal(commitSnapshot(context, stranger, { ...commit, ...selector }))).code).toBe("INVALID_BODY");
    expect(await served(owner.tenantId)).toBe(sha256(bytes));
  });

  it("needs the opt-in to pull and publish, not to probe and list", async () => {
    const context = createContext();
    const caller = await createCaller();
    await publish(context, caller, artifact());
    const nothing = await refusal(pullSnapshot(context, caller, { repo: "github.com/acme/nothing" }));
    await db.update(tenants).set({ sharedIndex: false }).where(eq(tenants.id, caller.tenantId));
    expect(await refusal(pullSnapshot(context, caller, selector))).toEqual(nothing);
    const manifest = manifestOf(artifact());
    expect((await refusal(signSnapshot(context, caller, { op: "sign", manifest, ...selector }))).code).toBe(
      "SHARED_INDEX_DISABLED",
    );
    expect(
      (await refusal(commitSnapshot(context, caller, { op: "commit", manifest, sizeBytes: 1_000, ...selector }))).code,
    ).toBe("SHARED_INDEX_DISABLED");
    expect(await probeSnapshot(context, caller, selector, FINGERPRINT)).toMatchObject({
      exists: true,
      isCurrent: true,
      embeddingModel: FINGERPRINT,
    });
    expect(await probeSnapshot(context, caller, selector, "emb_other")).toMatchObject({ isCurrent: false });
    expect(await listSnapshots(context, caller)).toMatchObject({
      sharedIndexEnabled: false,
      workspaces: [{ repo: REPO, inCloud: true, gitSha: GIT_SHA, sizeBytes: 1_000, fileCount: 3, symbolCount: 7 }],
    });
    const [before] = await db.select().from(workspaces).where(eq(workspaces.tenantId, caller.tenantId));
    expect(before?.repo).toBe(REPO);
  });

  it("provisions workspaces up to the cap, however many are asked for at once", async () => {
    const context = createContext();
    const caller = await createCaller();
    const given = Array.from({ length: MAX_PROVISIONED_WORKSPACES - 5 }, (_, i) => ({
      id: crypto.randomUUID(),
      tenantId: caller.tenantId,
      repo: `github.com/acme/old-${i}`,
    }));
    await db.insert(workspaces).values(given);
    const manifest = manifestOf(artifact());
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        // Each repository twice: the second request finds the workspace of the first.
        signSnapshot(context, caller, { op: "sign", manifest, repo: `github.com/acme/new-${index >> 1}` }).then(
          () => "signed",
          (error: { code: string }) => error.code,
        ),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === "signed")).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === "WORKSPACE_LIMIT")).toHaveLength(14);
    const rows = await db
      .select({ id: workspaces.id })
      .from(workspaces)
      .where(eq(workspaces.tenantId, caller.tenantId));
    expect(rows).toHaveLength(MAX_PROVISIONED_WORKSPACES);
  });

  it("refuses what it could not give back", async () => {
    const context = createContext();
    const caller = await createCaller();
    for (const extra of [{ note: "a\0b" }, { note: ["\ud800"] }, { "k\0": 1 }, { note: "x".repeat(65_536) }]) {
      const manifest = manifestOf(artifact(), GIT_SHA, extra);
      expect((await refusal(signSnapshot(context, caller, { op: "sign", manifest, ...selector }))).code).toBe(
        "INVALID_BODY",
      );
    }
    const manifest = manifestOf(artifact());
    for (const wrong of [{}, { repo: REPO, workspaceId: crypto.randomUUID() }, { repo: "nowhere" }, { repo: "" }]) {
      expect((await refusal(signSnapshot(context, caller, { op: "sign", manifest, ...wrong }))).code).toBe(
        "INVALID_SELECTOR",
      );
    }
    const unsigned = createContext({ presigner: undefined });
    expect((await refusal(signSnapshot(unsigned, caller, { op: "sign", manifest, ...selector }))).code).toBe(
      "SIGN_UPLOAD_FAILED",
    );
    await publish(context, caller, artifact());
    expect((await refusal(pullSnapshot(unsigned, caller, selector))).code).toBe("SIGN_FAILED");
  });
});
