import { describe, expect, it } from "vitest";
import { openSnapshot } from "../../../src/snapshot/format/reader.ts";
import { SnapshotFormatError } from "../../../src/snapshot/format/types.ts";
import { writeSnapshot } from "../../../src/snapshot/format/writer.ts";
import { collect, fixtureFiles, memoryBytes, memorySink, sourceOf } from "./fixture.ts";

const files = fixtureFiles(40);

async function written(): Promise<Uint8Array> {
  const sink = memorySink();
  await writeSnapshot(sourceOf(files), sink.write);
  return sink.bytes();
}

async function artifact() {
  return openSnapshot(memoryBytes(await written()));
}

/** Number of each file's row: before it stand all rows of the files before. */
function rowsOf(list: typeof files): number[] {
  let next = 0;
  return list.map(
    ({ symbols, chunks }) => (next += 1 + symbols.length + chunks.length) - 1 - symbols.length - chunks.length,
  );
}

describe("listing", () => {
  it("lists every file with the number of its symbols, chunks and withheld chunks", async () => {
    const rows = rowsOf(files);
    const listed = await (await artifact()).listing();
    expect(listed).toEqual(
      files.map(({ path, contentHash, language, sizeBytes, outcome, symbols, chunks }, at) => ({
        path,
        contentHash,
        language,
        sizeBytes,
        outcome,
        row: rows[at],
        symbolCount: symbols.length,
        chunkCount: chunks.length,
        withheldCount: chunks.filter(({ withheld }) => withheld).length,
      })),
    );
    expect(listed.some(({ withheldCount }) => withheldCount > 0)).toBe(true);
  });

  it("reads a part of the artifact only", async () => {
    const bytes = await written();
    const memory = memoryBytes(bytes);
    let readBytes = 0;
    const snapshot = await openSnapshot({
      byteLength: bytes.length,
      read: async (start, end) => {
        readBytes += end - start;
        return memory.read(start, end);
      },
    });
    readBytes = 0;
    await snapshot.listing();
    expect(readBytes).toBeGreaterThan(0);
    expect(readBytes).toBeLessThan(bytes.length / 5);
  });
});

describe("symbols in place", () => {
  it("finds those whose name passes, each with its file and position", async () => {
    const rows = rowsOf(files);
    const all = files.flatMap(({ symbols, contentHash, language }, at) =>
      symbols.map((symbol, ordinal) => ({ fileRow: rows[at] as number, contentHash, language, ordinal, symbol })),
    );
    const snapshot = await artifact();
    for (const { symbol } of all) {
      const test = (name: string) => name === symbol.name;
      expect(await collect(snapshot.symbolsNamed(test))).toEqual(all.filter((other) => test(other.symbol.name)));
    }
    expect(await collect(snapshot.symbolsNamed(() => true))).toEqual(all);
    expect(await collect(snapshot.symbolsNamed(() => false))).toEqual([]);
  });

  it("gives those of one file", async () => {
    const snapshot = await artifact();
    const listed = await snapshot.listing();
    for (const [at, file] of listed.entries()) {
      const found = await snapshot.symbolsOf(file);
      expect(found.map(({ symbol }) => symbol)).toEqual(files[at]?.symbols);
    }
    // A row that is no file's, and one that is another's.
    const file = listed.find(({ symbolCount }) => symbolCount > 0)!;
    await expect(snapshot.symbolsOf({ ...file, row: file.row + 1 })).rejects.toThrow(SnapshotFormatError);
    await expect(snapshot.symbolsOf({ ...file, contentHash: "00".repeat(32) })).rejects.toThrow(/another content/);
    await expect(snapshot.symbolsOf({ ...file, language: "other" })).rejects.toThrow(/another content/);
  });
});

describe("vectors by hash", () => {
  it("finds those that are there", async () => {
    const chunks = files.flatMap((file) => file.chunks);
    const wanted = new Set([...chunks.filter((_, at) => at % 3 === 0).map(({ hash }) => hash), "00".repeat(32)]);
    const found = await collect((await artifact()).vectors(wanted));
    const expected = new Map(
      chunks.flatMap(({ hash, vector }) => (vector !== undefined && wanted.has(hash) ? [[hash, vector] as const] : [])),
    );
    expect(new Map(found.map(({ hash, vector }) => [hash, Uint8Array.from(vector)]))).toEqual(expected);
    expect(expected.size).toBeGreaterThan(5);
  });
});
