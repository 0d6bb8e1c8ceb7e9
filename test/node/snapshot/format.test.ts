import { DuckDBInstance } from "@duckdb/node-api";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import { SnapshotManifest } from "../../../src/contract/index.ts";
import { decodeF16 } from "../../../src/engines/embedding/index.ts";
import { openSnapshot } from "../../../src/engines/snapshot/reader.ts";
import { SEGMENT_VERSION } from "../../../src/engines/search/segment.ts";
import { comparePaths, type SnapshotFile } from "../../../src/engines/snapshot/types.ts";
import { writeSnapshot } from "../../../src/engines/snapshot/writer.ts";
import { gunzip } from "../../../src/engines/snapshot/gunzip.ts";
import {
  collect,
  DIMENSION,
  FIXTURE_CHECKSUM,
  fixtureFiles,
  IDENTITY,
  memoryBytes,
  memorySink,
  sourceOf,
} from "./fixture.ts";

async function write(files: readonly SnapshotFile[]) {
  const sink = memorySink();
  const written = await writeSnapshot(sourceOf(files), sink.write);
  return { ...written, bytes: sink.bytes() };
}

async function read(bytes: Uint8Array): Promise<SnapshotFile[]> {
  const reader = await openSnapshot(memoryBytes(bytes));
  return collect(reader.files());
}

/** Plain data: a vector read back may be a view, one written may be a Buffer, and rows do not give back records. */
const plain = (files: readonly SnapshotFile[]) =>
  files.map((file) => ({
    ...file,
    usesRecord: undefined,
    chunks: file.chunks.map((chunk) => ({
      ...chunk,
      vector: chunk.vector && Buffer.from(chunk.vector).toString("hex"),
    })),
  }));

describe("the artifact", () => {
  it("gives back every file, symbol, chunk and vector", async () => {
    const files = fixtureFiles();
    const { bytes, manifest, header, sizeBytes } = await write(files);
    expect(plain(await read(bytes))).toEqual(plain(files));
    expect(sizeBytes).toBe(bytes.length);
    expect(SnapshotManifest.parse(manifest)).toEqual(manifest);
    expect(manifest).toMatchObject({
      fileCount: 40,
      gitSha: IDENTITY.gitSha,
      embedding: { fingerprint: IDENTITY.fingerprint, dimension: DIMENSION },
    });
    expect((await openSnapshot(memoryBytes(bytes))).header).toEqual(header);
    expect(header.vectorCount).toBeLessThan(header.chunkCount);
  });

  it("has the same bytes on every platform, every time", async () => {
    const { checksum } = await write(fixtureFiles());
    expect(checksum).toBe(FIXTURE_CHECKSUM);
    expect((await write(fixtureFiles())).checksum).toBe(checksum);
    expect((await write(fixtureFiles(41))).checksum).not.toBe(checksum);
  });

  it.each([1, 2, 3])("still reads artifacts of version %i, which have no uses", async (version) => {
    const bytes = readFileSync(new URL(`./artifacts/version-${version}.parquet`, import.meta.url));
    const reader = await openSnapshot(memoryBytes(bytes));
    expect(reader.header.formatVersion).toBe(version);
    const withoutUses = fixtureFiles(6).map((file) => Object.assign({}, file, { uses: [] }));
    expect(plain(await collect(reader.files()))).toEqual(plain(withoutUses));
    expect((await reader.listing()).map(({ useCount }) => useCount)).toEqual(withoutUses.map(() => 0));
    // Versions 1 and 2 have no search index; that of version 3 is of a version of segments without uses.
    if (version < 3) expect(await collect(reader.searchSegments(SEGMENT_VERSION))).toEqual([]);
  });

  it("refuses artifacts of a version it does not know, and says so", async () => {
    const { bytes } = await write(fixtureFiles(1));
    const newer = Buffer.from(bytes);
    const at = newer.indexOf('"formatVersion":4');
    newer.write('"formatVersion":9', at);
    await expect(openSnapshot(memoryBytes(newer))).rejects.toThrow(
      "format version 9 is newer than this program can read; update it",
    );
  });

  it("round-trips anything that an index may hold", async () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.constantFrom("", "\uFEFFbom", "🙂", "a\r\nb"),
    );
    const place = fc
      .record({ startLine: fc.nat(), endLine: fc.nat(), startByte: fc.nat(), endByte: fc.nat() })
      .map((place) => {
        const { startLine, endLine } = place;
        return Object.assign(place, {
          startLine: Math.min(startLine, endLine),
          endLine: Math.max(startLine, endLine),
        });
      });
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("hex"));
    const chunk = fc.record({
      text,
      context: text,
      hash,
      place,
      withheld: fc.boolean(),
      symbol: fc.nat(20),
      vector: fc.option(fc.uint8Array({ minLength: 2 * DIMENSION, maxLength: 2 * DIMENSION }), { nil: undefined }),
    });
    const symbol = fc.record({
      kind: text,
      name: text,
      qualifiedName: text,
      signature: text,
      doc: fc.option(text),
      parent: fc.nat(20),
      place,
    });
    const use = fc.record({
      kind: text,
      name: text,
      line: fc.nat(),
      enclosing: fc.option(text),
      meaning: fc.option(text),
    });
    const file = fc.record({
      hash,
      language: text,
      outcome: text,
      size: fc.nat(),
      lines: fc.nat(),
      symbols: fc.array(symbol, { maxLength: 5 }),
      uses: fc.array(use, { maxLength: 5 }),
      chunks: fc.array(chunk, { maxLength: 5 }),
    });
    const path = fc
      .array(
        fc
          .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
          .filter((part) => !/[/\0]/.test(part) && part !== "." && part !== ".."),
        { minLength: 1, maxLength: 3 },
      )
      .map((parts) => parts.join("/"));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(path, file, { maxKeys: 12 }), async (tree) => {
        const within = (index: number, count: number) =>
          count === 0 ? null : index % (count + 1) === count ? null : index % (count + 1);
        const files = Object.entries(tree)
          .toSorted(([a], [b]) => comparePaths(a, b))
          .map(([path, drawn]): SnapshotFile => ({
            path,
            contentHash: drawn.hash,
            language: drawn.language,
            outcome: drawn.outcome,
            sizeBytes: drawn.size,
            lineCount: drawn.lines,
            uses: drawn.uses,
            symbols: drawn.symbols.map(({ place, parent, ...rest }) => ({
              ...rest,
              ...place,
              parent: within(parent, drawn.symbols.length),
            })),
            chunks: drawn.chunks.map(({ place, symbol, withheld, ...rest }) => ({
              ...rest,
              ...place,
              withheld,
              symbol: within(symbol, drawn.symbols.length),
              ...(withheld ? { text: "", context: "", vector: undefined } : {}),
            })),
          }));
        const clean = JSON.parse(JSON.stringify(plain(files)).replaceAll("\\u0000", "\uFFFD")) as unknown;
        expect(JSON.parse(JSON.stringify(plain(await read((await write(files)).bytes))))).toEqual(clean);
      }),
      { numRuns: 25 },
    );
  });

  it("keeps its row groups small, with files that span them", async () => {
    const [file] = fixtureFiles(1);
    const big = Array.from({ length: 9 }, (_, index): SnapshotFile => ({
      ...(file as SnapshotFile),
      path: `big-${index}`,
      chunks: Array.from({ length: 50 }, (_, at) => ({
        ...(file as SnapshotFile).chunks[0]!,
        text: `${index} ${at} `.repeat(5_000),
        withheld: false,
      })),
    }));
    const parts: number[] = [];
    const sink = memorySink();
    await writeSnapshot(sourceOf(big), async (bytes) => {
      parts.push(bytes.length);
      await sink.write(bytes);
    });
    expect(parts.length).toBeGreaterThan(2);
    expect(plain(await read(sink.bytes()))).toEqual(plain(big));
  });

  it("spells text as a database would give it back", async () => {
    const [file] = fixtureFiles(1) as [SnapshotFile];
    const symbol = { ...file.symbols[0]!, signature: "cut \ud83d", name: "nul\0" };
    const [back] = await read((await write([{ ...file, symbols: [symbol, ...file.symbols.slice(1)] }])).bytes);
    expect(back?.symbols[0]).toMatchObject({ signature: "cut \uFFFD", name: "nul\uFFFD" });
  });

  it("refuses a source that breaks its own rules", async () => {
    const [a, b] = fixtureFiles(2) as [SnapshotFile, SnapshotFile];
    await expect(write([b, a])).rejects.toThrow("not in order");
    await expect(write([a, a])).rejects.toThrow("not in order");
    await expect(write([{ ...a, sizeBytes: -1 }])).rejects.toThrow(a.path);
    await expect(write([{ ...a, contentHash: "beef" }])).rejects.toThrow("SHA-256");
    await expect(write([{ ...a, chunks: [{ ...a.chunks[0]!, vector: new Uint8Array(3) }] }])).rejects.toThrow(
      "3 bytes",
    );
    const backwards = { ...a.chunks[0]!, startLine: 3, endLine: 2 };
    await expect(write([{ ...a, chunks: [backwards] }])).rejects.toThrow("line 2 is before line 3");
    await expect(write([{ ...a, chunks: [{ ...a.chunks[0]!, symbol: 99 }] }])).rejects.toThrow("does not exist");
  });

  it("holds an index without files", async () => {
    const { bytes, manifest } = await write([]);
    expect(await read(bytes)).toEqual([]);
    expect(manifest).toMatchObject({ fileCount: 0, symbolCount: 0 });
  });
});

describe("other tools", () => {
  it("hyparquet reads it", async () => {
    const files = fixtureFiles();
    const { bytes } = await write(files);
    const file = bytes.buffer as ArrayBuffer;
    const rows = await parquetReadObjects({ file, compressors: { GZIP: gunzip } });
    const chunks = files.flatMap((entry) => entry.chunks);
    expect(rows.filter((row) => row["kind"] === "chunk").map((row) => row["text"])).toEqual(
      chunks.map((chunk) => (chunk.withheld ? null : chunk.text)),
    );
    const withVector = rows.find((row) => row["vector"] !== null && row["vector"] !== undefined);
    const first = chunks.find((chunk) => chunk.vector !== undefined);
    expect(Float32Array.from(withVector?.["vector"] as number[])).toEqual(decodeF16(first?.vector ?? new Uint8Array()));
  });

  it("DuckDB queries it", async () => {
    const files = fixtureFiles();
    const { bytes } = await write(files);
    const folder = mkdtempSync(join(tmpdir(), "snapshot-"));
    const path = join(folder, "snapshot.parquet");
    writeFileSync(path, bytes);
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    try {
      const query = async (sql: string) =>
        (await connection.runAndReadAll(sql.replaceAll("FILE", `'${path}'`))).getRowObjectsJson();
      expect(await query("select kind, count(*)::int as n from FILE group by kind order by kind")).toEqual([
        { kind: "chunk", n: files.flatMap((file) => file.chunks).length },
        { kind: "file", n: files.length },
        { kind: "symbol", n: files.flatMap((file) => file.symbols).length },
        { kind: "use", n: files.flatMap((file) => file.uses).length },
      ]);
      const calls = await query(
        "select path, qualified_name, start_line, context from FILE where kind = 'use' and symbol_kind = 'call' and name = 'parse'",
      );
      expect(calls).toEqual(
        files.flatMap(({ path, uses }) =>
          uses
            .filter(({ kind }) => kind === "call")
            .map((use) => ({
              path,
              qualified_name: use.enclosing,
              start_line: use.line,
              context: "./parse#parse",
            })),
        ),
      );
      const texts = await query(
        "select path, text, lower(hex(content_hash)) as hash from FILE where kind = 'chunk' and text is not null",
      );
      expect(texts).toEqual(
        files.flatMap((file) =>
          file.chunks
            .filter((chunk) => !chunk.withheld)
            .map((chunk) => ({ path: file.path, text: chunk.text, hash: file.contentHash })),
        ),
      );
      const vectors = await query("select vector from FILE where vector is not null");
      const expected = files.flatMap((file) =>
        file.chunks.flatMap((chunk) => (chunk.vector === undefined ? [] : [Array.from(decodeF16(chunk.vector))])),
      );
      expect(vectors.length).toBe(expected.length);
      expect(JSON.stringify(vectors.map((row) => row["vector"]).slice(0, 20))).toBe(
        JSON.stringify(expected.slice(0, 20)),
      );
      const [meta] = await query(
        "select decode(value) as header from parquet_kv_metadata(FILE) where decode(key) = 'code_context'",
      );
      expect(JSON.parse(meta?.["header"] as string)).toMatchObject({
        formatVersion: 4,
        vectorType: "float16",
        gitSha: IDENTITY.gitSha,
      });
    } finally {
      connection.closeSync();
      instance.closeSync();
      rmSync(folder, { recursive: true });
    }
  });
});
