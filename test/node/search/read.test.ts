import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RangeReader } from "../../../src/engines/search/types.ts";
import { openObject, RangeCache, readObject } from "../../../src/service/hosted-index/read.ts";
import { MemoryBucket } from "../../support/pipeline.ts";

const KB = 1024;

/** A bucket that counts what is read of it. */
class CountingBucket extends MemoryBucket {
  gets = 0;
  bytes = 0;

  override async get(...args: Parameters<MemoryBucket["get"]>) {
    this.gets++;
    this.bytes += args[1]?.range.length ?? 0;
    return super.get(...args);
  }
}

async function openBytes(size: number, cache = new RangeCache()) {
  const bucket = new CountingBucket();
  const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 9)) & 0xff);
  await bucket.put("object", bytes);
  const reader = await openObject(bucket, "object", { cache, firstBytes: 64 * KB });
  bucket.gets = 0;
  bucket.bytes = 0;
  return { bucket, bytes, reader };
}

it("gives exactly the bytes that are asked for, whatever is cached", async () => {
  const ranges = fc.array(fc.tuple(fc.nat(900 * KB), fc.nat(200 * KB)), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(
      ranges,
      fc.integer({ min: 1, max: 1_000 * KB }),
      fc.nat(400 * KB),
      async (wanted, size, budget) => {
        const { bytes, reader } = await openBytes(size, new RangeCache(budget));
        const inside = wanted.map(([offset, length]): [number, number] => {
          const start = offset % size;
          return [start, Math.min(length, size - start)];
        });
        const read = await Promise.all(inside.map(async ([offset, length]) => reader.read(offset, length)));
        for (const [i, [offset, length]] of inside.entries())
          expect(Buffer.compare(read[i] as Uint8Array, bytes.subarray(offset, offset + length))).toBe(0);
      },
    ),
    { numRuns: 40 },
  );
});

it("opens an object again without a request, until it is forgotten", async () => {
  const cache = new RangeCache();
  const { bucket, bytes } = await openBytes(100 * KB, cache);
  const again = await openObject(bucket, "object", { cache });
  expect(Buffer.compare(await again.read(0, 60 * KB), bytes.subarray(0, 60 * KB))).toBe(0);
  expect([again.size, bucket.gets]).toEqual([100 * KB, 0]);
  cache.deletePrefix("object ");
  await openObject(bucket, "object", { cache });
  expect(bucket.gets).toBe(1);
});

it("reads of a long first part only what its opening has not read", async () => {
  const { bucket, bytes, reader } = await openBytes(900 * KB);
  const read = await reader.read(16, 700 * KB);
  expect(Buffer.compare(read, bytes.subarray(16, 16 + 700 * KB))).toBe(0);
  expect([bucket.gets, bucket.bytes]).toEqual([1, 16 + 700 * KB - 64 * KB]);
});

it("reads a whole object with one request, or two where it is longer than expected", async () => {
  const { bucket, bytes } = await openBytes(300 * KB);
  const cache = new RangeCache();
  for (const [firstBytes, gets] of [
    [300 * KB, 1],
    [400 * KB, 1],
    [299 * KB, 2],
  ] as const) {
    bucket.gets = 0;
    const reader = await readObject(bucket, "object", { cache, firstBytes });
    expect(Buffer.compare(await reader.read(0, reader.size), bytes)).toBe(0);
    expect(bucket.gets).toBe(gets);
  }
  await bucket.put("empty", new Uint8Array());
  expect((await readObject(bucket, "empty", { cache, firstBytes: KB })).size).toBe(0);
  await expect(readObject(bucket, "none", { cache, firstBytes: KB })).rejects.toThrow("none is missing");
});

describe("ranges that are wanted together", () => {
  const wanted = [130, 140, 390, 1_000, 3_000, 3_010];
  const readAll = (reader: RangeReader, from = wanted) => Promise.all(from.map(async (at) => reader.read(at * KB, KB)));

  it("are read with one request for each run of near ones, with the pages around them", async () => {
    const { bucket, reader } = await openBytes(4_000 * KB);
    await readAll(reader);
    expect(bucket.gets).toBe(3);
    await readAll(reader, [...wanted, 150, 300, 3_040]);
    expect(bucket.gets).toBe(3);
  });

  it("are kept without their pages where the cache has no room for those", async () => {
    const { bucket, reader } = await openBytes(4_000 * KB, new RangeCache(60 * KB));
    await readAll(reader);
    expect(bucket.gets).toBe(3);
    await readAll(reader);
    expect(bucket.gets).toBe(3);
    await readAll(reader, [150, 300, 3_040]);
    expect(bucket.gets).toBeGreaterThan(3);
  });
});

/** A bucket whose reads end when they are let go. */
class SlowBucket extends MemoryBucket {
  under = 0;
  most = 0;

  override async get(...args: Parameters<MemoryBucket["get"]>) {
    const bytes = args[1]?.range.length ?? 0;
    this.under += bytes;
    this.most = Math.max(this.most, this.under);
    const object = await super.get(...args);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.under -= bytes;
    return object;
  }
}

it("has 16 MB of reads under way at most, however many are asked for", async () => {
  const bucket = new SlowBucket();
  const cache = new RangeCache();
  const readers: RangeReader[] = [];
  for (let n = 0; n < 8; n++) {
    await bucket.put(`object${n}`, new Uint8Array(4 * KB * KB));
    readers.push(await openObject(bucket, `object${n}`, { cache }));
  }
  const read = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => (readers[i % 8] as RangeReader).read((i >> 3) * 800 * KB, 790 * KB)),
  );
  expect(read.every(({ byteLength }) => byteLength === 790 * KB)).toBe(true);
  expect(bucket.most).toBeGreaterThan(10 * KB * KB);
  expect(bucket.most).toBeLessThanOrEqual(16 * KB * KB);
});
