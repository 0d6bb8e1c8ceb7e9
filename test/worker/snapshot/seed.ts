import { createHash } from "node:crypto";
import { eq } from "drizzle-orm";
import { chunks, contents, revisionFiles, symbols, vectors } from "../../../src/service/db/content-schema.ts";
import { revisions, workspaces } from "../../../src/service/db/schema.ts";
import type { SnapshotFile } from "../../../src/engines/snapshot/types.ts";
import { IDENTITY } from "../../node/snapshot/fixture.ts";
import { SegmentBuilder } from "../../../src/service/hosted-index/write.ts";
import { db } from "../support/tenants.ts";
import { bucket, createContext } from "./support.ts";

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));

/** Stores these files as the current revision of a new workspace, the way an index run would leave them. */
export async function seedRevision(
  tenantId: string,
  files: SnapshotFile[],
  repo: string | null = null,
): Promise<string> {
  const workspaceId = crypto.randomUUID();
  await db.insert(workspaces).values({ id: workspaceId, tenantId, repo });
  const idOf = (file: SnapshotFile) => {
    const hex = createHash("sha256").update(`${tenantId}${file.contentHash}`).digest("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
  };
  const distinct = [...new Map(files.map((file) => [file.contentHash, file])).values()];
  await db.insert(contents).values(
    distinct.map((file) => ({
      id: idOf(file),
      tenantId,
      sha256: bytesOf(file.contentHash),
      language: file.language,
      parserVersion: IDENTITY.parserVersion,
      sizeBytes: file.sizeBytes,
      lineCount: file.lineCount,
      symbolCount: file.symbols.length,
      chunkCount: file.chunks.length,
      redactedCount: file.chunks.filter((chunk) => chunk.withheld).length,
      outcome: file.outcome,
    })),
  );
  await db
    .insert(symbols)
    .values(
      distinct.flatMap((file) =>
        file.symbols.map((symbol, ordinal) => ({ contentId: idOf(file), ordinal, ...symbol })),
      ),
    );
  await db.insert(chunks).values(
    distinct.flatMap((file) =>
      file.chunks.map(({ vector: _vector, hash, ...chunk }, ordinal) => ({
        contentId: idOf(file),
        ordinal,
        hash: bytesOf(hash),
        ...chunk,
      })),
    ),
  );
  const segment = new SegmentBuilder();
  for (const file of distinct)
    segment.add({ ...file, id: idOf(file), sha256: file.contentHash, uses: file.usesRecord });
  await segment.write({ ...createContext(), bucket, model: null, beat: async () => {} }, tenantId);
  await db
    .insert(vectors)
    .values(
      distinct.flatMap((file) =>
        file.chunks.flatMap(({ hash, vector }) =>
          vector === undefined
            ? []
            : [{ tenantId, fingerprint: IDENTITY.fingerprint, chunkHash: bytesOf(hash), vector }],
        ),
      ),
    )
    .onConflictDoNothing();
  await db.insert(revisions).values({
    workspaceId,
    seq: 1,
    runId: crypto.randomUUID(),
    gitSha: IDENTITY.gitSha,
    rootTree: "0".repeat(40),
    planKey: "test",
    fingerprint: IDENTITY.fingerprint,
    dimension: IDENTITY.dimension,
    fileCount: files.length,
    symbolCount: files.reduce((sum, file) => sum + file.symbols.length, 0),
    chunkCount: files.reduce((sum, file) => sum + file.chunks.length, 0),
    stats: {},
  });
  await db.insert(revisionFiles).values(
    files.map((file) => ({
      workspaceId,
      path: file.path,
      fromSeq: 1,
      contentId: idOf(file),
      gitOid: new Uint8Array(20),
      mode: 0o100644,
    })),
  );
  await db.update(workspaces).set({ currentSeq: 1 }).where(eq(workspaces.id, workspaceId));
  return workspaceId;
}
