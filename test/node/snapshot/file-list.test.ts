import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkedAgainst,
  FileListWriter,
  type ListedFile,
  readFileList,
} from "../../../src/engines/snapshot/file-list.ts";
import { gzip } from "../../../src/engines/snapshot/gzip.ts";
import { openSnapshot } from "../../../src/engines/snapshot/reader.ts";
import {
  comparePaths,
  type SnapshotFile,
  SnapshotFormatError,
  type SnapshotHeader,
} from "../../../src/engines/snapshot/types.ts";
import { writeSnapshot } from "../../../src/engines/snapshot/writer.ts";
import { collect, fixtureFiles, IDENTITY, memoryBytes, memorySink, sourceOf } from "./fixture.ts";

type Listed = Omit<ListedFile, "row">;

/** Encodes a list; symbols, chunks and uses count, what is in them does not. */
function encode(files: readonly Listed[], compress = gzip): Uint8Array {
  const list = new FileListWriter(compress);
  for (const { path, contentHash, language, outcome, sizeBytes, ...counts } of files) {
    const symbols = Array.from({ length: counts.symbolCount });
    const chunks = Array.from({ length: counts.chunkCount }, (_, at) => ({ withheld: at < counts.withheldCount }));
    const uses = Array.from({ length: counts.useCount });
    const file = { language, outcome, sizeBytes, symbols, chunks, uses } as unknown as SnapshotFile;
    list.add(path, Buffer.from(contentHash, "hex"), file);
  }
  return list.finish();
}

/** The same with its JSON changed. */
function patched(files: readonly Listed[], from: string | RegExp, to: string): Uint8Array {
  let length = 0;
  const bytes = encode(files, (json) => {
    const text = Buffer.from(json).toString();
    const changed = text.replace(from, to);
    expect(changed).not.toBe(text);
    length = Buffer.byteLength(changed);
    return gzip(Buffer.from(changed));
  });
  new DataView(bytes.buffer).setUint32(0, length, true);
  return bytes;
}

function headerOf(files: readonly Listed[]): SnapshotHeader {
  const sum = (name: "symbolCount" | "chunkCount" | "useCount") => files.reduce((total, file) => total + file[name], 0);
  const counts = {
    fileCount: files.length,
    symbolCount: sum("symbolCount"),
    chunkCount: sum("chunkCount"),
    useCount: sum("useCount"),
  };
  return { ...IDENTITY, formatVersion: 4, vectorType: "float16", ...counts, vectorCount: 0 };
}

const count = fc.integer({ min: 0, max: 40 });
const listedFile = fc
  .record({
    path: fc.stringMatching(/^[a-z\uFFEE\u{1F4C1}]{1,9}(\/[a-z\uFFEE\u{1F4C1}]{1,9}){0,3}$/u),
    contentHash: fc.stringMatching(/^[0-9a-f]{64}$/),
    language: fc.constantFrom("typescript", "python", "markdown"),
    outcome: fc.constantFrom("syntax", "plain", "fallback:nesting"),
    sizeBytes: fc.nat(2 ** 31 - 1),
    symbolCount: count,
    chunkCount: count,
    withheldCount: count,
    useCount: count,
  })
  .map((file): Listed => Object.assign(file, { withheldCount: Math.min(file.withheldCount, file.chunkCount) }));
const listOf = fc
  .uniqueArray(listedFile, { selector: ({ path }) => path, maxLength: 100 })
  .map((files) => files.toSorted((a, b) => comparePaths(a.path, b.path)));

describe("the file list", () => {
  it("gives back what was written, with the rows that follow from the counts", () => {
    fc.assert(
      fc.property(listOf, (files) => {
        let row = 0;
        const expected = files.map((file): ListedFile => {
          const listed = { ...file, row };
          row += 1 + file.symbolCount + file.chunkCount + file.useCount;
          return listed;
        });
        expect(readFileList(encode(files), headerOf(files))).toEqual(expected);
      }),
    );
  });

  it("is refused or says the same, whichever of its bits is damaged", async () => {
    const files = fixtureFiles(6);
    const sink = memorySink();
    await writeSnapshot(sourceOf(files), sink.write);
    const bytes = sink.bytes();
    const expected = await collect((await openSnapshot(memoryBytes(bytes))).files());
    const list = encode(await (await openSnapshot(memoryBytes(bytes))).listing());
    const start = Buffer.from(bytes).indexOf(list);
    expect(start).toBeGreaterThan(0);
    let refused = 0;
    for (let at = start; at < start + list.length; at++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] as number) ^ (1 << (at % 8));
      const snapshot = await openSnapshot(memoryBytes(damaged));
      // Some bits say nothing (of gzip's header, padding), and a distance of DEFLATE may lead to the same bytes at another place.
      const outcome: unknown = await collect(snapshot.files()).catch((error: unknown) => error);
      if (outcome instanceof SnapshotFormatError) refused++;
      else expect(outcome).toEqual(expected);
    }
    expect(refused).toBeGreaterThan(list.length - 20);
  });

  const counts = { sizeBytes: 5, symbolCount: 2, chunkCount: 1, withheldCount: 0, useCount: 3 };
  const common = { contentHash: "ab".repeat(32), language: "typescript", outcome: "syntax", ...counts };
  const first: Listed = { path: "a.ts", ...common };
  const second: Listed = { path: "b.ts", ...common };
  const good = [first, second];

  it.each<[string, readonly Listed[], Partial<SnapshotHeader>, RegExp]>([
    ["files out of order", [second, first], {}, /not in order/],
    [
      "files in the order of UTF-16",
      [
        { ...first, path: "\u{1F4C1}" },
        { ...second, path: "\uFFEE" },
      ],
      {},
      /not in order/,
    ],
    ["a path twice", [first, first], {}, /not in order/],
    ["a path that leads out", [{ ...first, path: "../a.ts" }, second], {}, /not a path inside/],
    ["more withheld chunks than chunks", [{ ...first, withheldCount: 2 }, second], {}, /withheld/],
    ["another number of symbols", good, { symbolCount: 5 }, /symbolCount: the header says 5, the files have 4/],
    ["another number of chunks", good, { chunkCount: 1 }, /chunkCount/],
    ["fewer files", good, { fileCount: 1 }, /./],
    ["more files", good, { fileCount: 3 }, /./],
    ["files without end", good, { fileCount: Number.MAX_SAFE_INTEGER }, /too short/],
  ])("is refused with %s", (name, files, header, why) => {
    // Only the writer's own count of what is withheld cannot be wrong.
    const bytes = name.startsWith("more withheld")
      ? patched(good, '"withheldCount":[0,', '"withheldCount":[2,')
      : encode(files);
    expect(() => readFileList(bytes, { ...headerOf(good), ...header })).toThrow(why);
  });

  it.each([
    ["an unknown language", '"language":[0,', '"language":[1,', /unknown language/],
    ["an unknown outcome", '"outcome":[0,', '"outcome":[7,', /unknown outcome/],
    ["a fraction", '"sizeBytes":[5,', '"sizeBytes":[.5,', /./],
    ["a negative number", '"sizeBytes":[5,5]', '"sizeBytes":[-5,5]', /sizeBytes: not what it has to be/],
    ["a number of another kind", '"sizeBytes":[5,5]', '"sizeBytes":["5",5]', /sizeBytes: not what it has to be/],
    ["a number too large", '"sizeBytes":[5,', '"sizeBytes":[2147483648,', /sizeBytes: not what it has to be/],
    ["a path that is none", '"path":["a.ts",', '"path":[null,', /path: not what it has to be/],
    ["a column too short", '"chunkCount":[1,1]', '"chunkCount":[1]', /chunkCount: not a value for each file/],
    ["a column missing", /"chunkCount":\[1,1\],/, "", /chunkCount: not a value for each file/],
    ["a path that is not well-formed", '"path":["a.ts",', '"path":["\\ud800",', /not a path inside/],
    ["an unknown member", '{"languages"', '{"extra":1,"languages"', /extra: unknown/],
    ["a dictionary that is too long", '"outcomes":[', '"outcomes":["a","b",', /outcomes: more than there are files/],
    ["nothing", /^.*$/s, "null", /not a value for each file/],
  ])("is refused with %s in it", (_, from, to, why) => {
    expect(() => readFileList(patched(good, from, to), headerOf(good))).toThrow(why);
  });

  it("is refused when it is not UTF-8", () => {
    const bytes = encode(good, (json) => gzip(Uint8Array.from(json, (byte) => (byte === 0x61 ? 0xff : byte))));
    expect(() => readFileList(bytes, headerOf(good))).toThrow(TypeError);
  });

  it("is refused when it expands to anything but the length that it names", () => {
    const bytes = encode(good);
    for (const length of [0, 10, 0xffff_ffff]) {
      new DataView(bytes.buffer).setUint32(0, length, true);
      expect(() => readFileList(bytes, headerOf(good))).toThrow();
    }
    expect(() => readFileList(bytes.subarray(0, 68), headerOf(good))).toThrow(/too short/);
  });

  it("has to agree with the rows", async () => {
    const files = fixtureFiles(5);
    const sink = memorySink();
    await writeSnapshot(sourceOf(files), sink.write);
    const listed = await (await openSnapshot(memoryBytes(sink.bytes()))).listing();
    const rows = async function* () {
      yield* files;
    };
    expect(await collect(checkedAgainst(listed, rows()))).toEqual(files);
    const changes: Partial<ListedFile>[] = [
      { path: "other" },
      { contentHash: "00".repeat(32) },
      { language: "other" },
      { outcome: "other" },
      { sizeBytes: 1 },
      { symbolCount: 99 },
      { chunkCount: 99 },
      { withheldCount: 99 },
    ];
    for (const change of changes) {
      const other = listed.with(2, { ...(listed[2] as ListedFile), ...change });
      await expect(collect(checkedAgainst(other, rows()))).rejects.toThrow(/something else/);
    }
  });
});
