import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openSnapshot } from "../../engines/snapshot/reader.ts";
import { SnapshotFormatError, type SnapshotBytes } from "../../engines/snapshot/types.ts";
import { fileChecksum } from "../machine/checksum.ts";
import { clearKnownSnapshot } from "./known-snapshot.ts";
import { removeContents } from "./garbage.ts";
import { type Base, baseFile, contentKey, contentsByKey, listBases, readArtifact } from "./bases.ts";
import { packFile } from "./packed-file.ts";
import type { IndexStore } from "./store.ts";
import { IndexDamagedError } from "./verified.ts";

/** If there are more base layers, all are copied into the tables. */
const MAX_BASES = 3;

/** Checksums of artifacts whose bytes this process has verified. */
const verified = new Set<string>();

export function markVerified(checksum: string): void {
  verified.add(checksum);
}

/** Copies symbols, chunks and vectors of every base layer into the tables, one transaction per layer, and deletes the artifacts. */
export async function completeBases(store: IndexStore): Promise<void> {
  for (const base of listBases(store)) {
    await reading(store, base, async (bytes) => {
      store.begin();
      const pending = contentsByKey(store, "base", base.id);
      const snapshot = await openSnapshot(bytes);
      const fingerprintId = store.fingerprintId(base.fingerprint, snapshot.header.dimension) ?? 0;
      for await (const { contentHash, language, lineCount, symbols, chunks } of snapshot.files()) {
        const key = contentKey(contentHash, language);
        const id = pending.get(key)?.id;
        if (id !== undefined) {
          store.prepare("update contents set line_count = ? where id = ?").run(lineCount, id);
          store.addParsed(id, packFile(symbols, chunks));
        }
        pending.delete(key);
        for (const { hash, vector } of chunks)
          if (vector !== undefined) store.addVector(fingerprintId, Buffer.from(hash, "hex"), vector);
      }
      if (pending.size > 0) throw new SnapshotFormatError("it lacks contents that were there when it was pulled");
      store.prepare("update contents set base = null, base_row = null where base = ?").run(base.id);
      store.prepare("delete from bases where id = ?").run(base.id);
      store.commit();
    });
    rmSync(baseFile(store.directory, base.checksum), { force: true });
  }
}

/** Copies wanted vectors (keys: SHA-256 of the embedded text, in hex) from base layers into the tables. */
export async function adoptVectors(store: IndexStore, fingerprint: string, wanted: Set<string>): Promise<void> {
  for (const base of listBases(store)) {
    if (base.fingerprint !== fingerprint || wanted.size === 0) continue;
    await reading(store, base, async (bytes) => {
      const snapshot = await openSnapshot(bytes);
      store.begin();
      const fingerprintId = store.fingerprintId(fingerprint, snapshot.header.dimension) ?? 0;
      for await (const { hash, vector } of snapshot.vectors(wanted)) {
        store.addVector(fingerprintId, Buffer.from(hash, "hex"), vector);
        wanted.delete(hash);
      }
      store.commit();
    });
  }
}

/**
 * Deletes unused base layers except the newest, and orphaned artifacts. If too many layers remain, copies them into the tables.
 */
export async function pruneBases(store: IndexStore): Promise<void> {
  const bases = listBases(store);
  const newest = bases.at(-1)?.id;
  store.transaction(() => {
    for (const { id } of bases) {
      const contents = store.prepare("select id from contents where base = ?").all(id) as { id: number }[];
      const used = store.prepare(
        "select 1 from contents c join worktree_files f on f.content_id = c.id where c.base = ? limit 1",
      );
      if (contents.length > 0 && (id === newest || used.get(id) !== undefined)) continue;
      removeContents(
        store,
        contents.map((content) => content.id),
      );
      store.prepare("delete from bases where id = ?").run(id);
    }
  });
  const kept = listBases(store);
  const owned = new Set(kept.map(({ checksum }) => baseFile(store.directory, checksum)));
  for (const name of readdirSync(store.directory)) {
    const file = join(store.directory, name);
    if (/^base-.*\.parquet$/.test(name) && !owned.has(file)) rmSync(file, { force: true });
  }
  if (kept.length > MAX_BASES) await completeBases(store);
}

/** Reads a base layer after verifying its checksum. Discards a damaged one. */
async function reading(store: IndexStore, base: Base, use: (bytes: SnapshotBytes) => Promise<void>): Promise<void> {
  const file = baseFile(store.directory, base.checksum);
  try {
    if (!existsSync(file)) throw new SnapshotFormatError("its file is gone");
    if (!verified.has(base.checksum)) {
      if ((await fileChecksum(file)) !== base.checksum) throw new SnapshotFormatError("its checksum is wrong");
      verified.add(base.checksum);
    }
    await readArtifact(file, use);
  } catch (cause) {
    store.rollback();
    if (!(cause instanceof SnapshotFormatError)) throw cause;
    discardBase(store, base);
    throw new IndexDamagedError(`the pulled snapshot: ${cause.message}`, { removed: true, cause });
  }
}

/** Deletes a base layer and its contents. */
function discardBase(store: IndexStore, base: Base): void {
  store.transaction(() => {
    const contents = store.prepare("select id from contents where base = ?").all(base.id) as { id: number }[];
    const forget = store.prepare("delete from worktree_files where content_id = ?");
    for (const { id } of contents) forget.run(id);
    removeContents(
      store,
      contents.map(({ id }) => id),
    );
    store.prepare("update worktrees set embedded_with = null").run();
    store.prepare("delete from bases where id = ?").run(base.id);
    clearKnownSnapshot(store);
  });
  rmSync(baseFile(store.directory, base.checksum), { force: true });
}
