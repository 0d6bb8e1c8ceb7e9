import { describe, expect, it } from "vitest";
import { openSnapshot } from "../../../src/engines/snapshot/reader.ts";
import { SnapshotFormatError } from "../../../src/engines/snapshot/types.ts";
import { writeSnapshot } from "../../../src/engines/snapshot/writer.ts";
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
  return list.map(({ symbols, chunks, uses }) => {
    const row = next;
    next += 1 + symbols.length + chunks.length + uses.length;
    return row;
  });
}

describe("listing", () => {
  it("lists every file with the number of its symbols, chunks and withheld chunks", async () => {
    const rows = rowsOf(files);
    const listed = await (await artifact()).listing();
    expect(listed).toEqual(
      files.map(({ path, contentHash, language, sizeBytes, outcome, symbols, chunks, uses }, at) => ({
        path,
        contentHash,
        language,
        sizeBytes,
        outcome,
        row: rows[at],
        symbolCount: symbols.length,
        chunkCount: chunks.length,
        withheldCount: chunks.filter(({ withheld }) => withheld).length,
        useCount: uses.length,
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

describe("texts by row", () => {
  it("are signatures of symbols and texts of chunks; other rows have none", async () => {
    const rows = rowsOf(files);
    const all = files.flatMap(({ symbols, chunks }, at) =>
      [
        { signature: null, text: null },
        ...symbols.map(({ signature }) => ({ signature, text: null })),
        ...chunks.map(({ text, withheld }) => ({ signature: null, text: withheld ? null : text })),
      ].map((texts, n) => Object.assign(texts, { row: (rows[at] as number) + n })),
    );
    const snapshot = await artifact();
    for (const column of ["signature", "text"] as const)
      for (const wanted of [all, all.filter((_, at) => at % 5 === 3), all.slice(-1), []])
        expect(
          await snapshot.textsAt(
            column,
            wanted.map(({ row }) => row),
          ),
        ).toEqual(wanted.map((texts) => texts[column]));
  });

  it("are refused for rows that are not there, or not in order", async () => {
    const snapshot = await artifact();
    for (const rows of [[1_000_000], [-1], [5, 3]])
      await expect(snapshot.textsAt("signature", rows)).rejects.toThrow(SnapshotFormatError);
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
