import { describe, expect, it } from "vitest";
import { commitSnapshot } from "../../../src/service/snapshots/commit.ts";
import { signSnapshot } from "../../../src/service/snapshots/sign.ts";
import { uploadKeyOf } from "../../../src/service/snapshots/storage.ts";
import { writeSnapshot } from "../../../src/engines/snapshot/writer.ts";
import { fixtureFiles, memorySink, sourceOf } from "../../node/snapshot/fixture.ts";
import {
  artifact,
  bucket,
  createCaller,
  createContext,
  GIT_SHA,
  manifestOf,
  publish,
  refusal,
  REPO,
  sha256,
} from "./support.ts";

const selector = { repo: REPO };

async function realArtifact() {
  const sink = memorySink();
  const { manifest } = await writeSnapshot(sourceOf(fixtureFiles(5)), sink.write);
  return { bytes: sink.bytes(), manifest };
}

describe("what is uploaded", () => {
  it("has a size that is signed, in the body or in the manifest", async () => {
    const context = createContext();
    const caller = await createCaller();
    const { sizeBytes, ...manifest } = manifestOf(artifact());
    const refused = await refusal(signSnapshot(context, caller, { op: "sign", manifest, ...selector } as never));
    expect(refused).toMatchObject({ code: "INVALID_BODY", status: 400 });
    expect(refused.text).toContain("sizeBytes: is required");
    await signSnapshot(context, caller, { op: "sign", manifest, sizeBytes: sizeBytes ?? 1, ...selector } as never);
  });

  it("has a manifest that does not nest without end", async () => {
    const context = createContext();
    const caller = await createCaller();
    const deep = JSON.parse(`${'{"a":'.repeat(500_000)}1${"}".repeat(500_000)}`) as unknown;
    const manifest = manifestOf(artifact(), GIT_SHA, { deep });
    for (const refused of [
      await refusal(signSnapshot(context, caller, { op: "sign", manifest, ...selector })),
      await refusal(commitSnapshot(context, caller, { op: "commit", manifest, sizeBytes: 1_000, ...selector })),
    ]) {
      expect(refused).toMatchObject({ code: "INVALID_BODY", status: 400 });
      expect(refused.text).toContain("deeper than 64 levels");
    }
  });

  it("fits into the tenant's storage, also when many ask at once", async () => {
    const context = createContext({ storageLimitBytes: 5_500 });
    const caller = await createCaller();
    await publish(context, caller, artifact(1_000));
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        signSnapshot(context, caller, {
          op: "sign",
          manifest: manifestOf(artifact(1_000)),
          repo: `github.com/acme/part-${index >> 1}`,
        }).then(
          () => "signed",
          (error: { code: string; details: unknown }) => error.code,
        ),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === "signed")).toHaveLength(4);
    expect(outcomes.filter((outcome) => outcome === "STORAGE_LIMIT")).toHaveLength(8);
    const refused = await refusal(
      signSnapshot(context, caller, { op: "sign", manifest: manifestOf(artifact(501)), ...selector }),
    );
    expect(refused).toMatchObject({ code: "STORAGE_LIMIT", status: 403 });
    expect(JSON.parse(refused.text)).toMatchObject({ details: { limitBytes: 5_500, usedBytes: 5_000 } });
    await signSnapshot(context, caller, { op: "sign", manifest: manifestOf(artifact(500)), ...selector });
    // Another tenant's room is its own.
    await signSnapshot(context, await createCaller(), {
      op: "sign",
      manifest: manifestOf(artifact(5_500)),
      ...selector,
    });
  });

  it("is committed when it is a snapshot that agrees with its manifest", async () => {
    const context = createContext();
    const caller = await createCaller();
    const { bytes, manifest } = await realArtifact();
    const { storagePath } = await signSnapshot(context, caller, { op: "sign", manifest, ...selector });
    await bucket.put(uploadKeyOf(storagePath), bytes);
    await commitSnapshot(context, caller, { op: "commit", manifest, sizeBytes: bytes.length, ...selector });
    expect(await bucket.head(storagePath)).not.toBeNull();
  });

  it.each([
    ["other counts", { fileCount: 6 }, undefined, "manifest.fileCount"],
    ["another commit", { gitSha: "9".repeat(40) }, undefined, "manifest.gitSha"],
    ["another embedding space", { embedding: { fingerprint: "emb_other", dimension: 8 } }, undefined, "fingerprint"],
    [
      "a damaged footer",
      {},
      (bytes: Uint8Array) => bytes.fill(0xff, bytes.length - 300, bytes.length - 8),
      "no snapshot",
    ],
    [
      "a footer beyond the file",
      {},
      (bytes: Uint8Array) => bytes.fill(0x7f, bytes.length - 8, bytes.length - 5),
      "no snapshot",
    ],
    ["other bytes in a container of that name", {}, (bytes: Uint8Array) => bytes.fill(1), "no snapshot"],
  ])("is refused with %s, and leaves nothing behind", async (_what, changes, damage, message) => {
    const context = createContext();
    const caller = await createCaller();
    const { bytes, manifest: written } = await realArtifact();
    damage?.(bytes);
    const manifest = { ...written, ...changes, checksum: `sha256:${sha256(bytes)}` };
    const { storagePath } = await signSnapshot(context, caller, { op: "sign", manifest, ...selector });
    await bucket.put(uploadKeyOf(storagePath), bytes);
    const refused = await refusal(
      commitSnapshot(context, caller, { op: "commit", manifest, sizeBytes: bytes.length, ...selector }),
    );
    expect(refused).toMatchObject({ code: "INVALID_BODY", status: 400 });
    expect(refused.text).toContain(message);
    expect(await bucket.head(storagePath)).toBeNull();
  });
});
