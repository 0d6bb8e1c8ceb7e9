import * as fc from "fast-check";
import { expect, it } from "vitest";
import { openObject, PageCache } from "../../../src/search/read.ts";
import { MemoryBucket } from "../../support/pipeline.ts";

const KB = 1024;

/** A bucket that counts what is read of it. */
class CountingBucket extends MemoryBucket {
  gets = 0;

  override async get(...args: Parameters<MemoryBucket["get"]>) {
    this.gets++;
    return super.get(...args);
  }
}

async function openBytes(size: number, cache = new PageCache()) {
  const bucket = new CountingBucket();
  const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 9)) & 0xff);
  await bucket.put("object", bytes);
  const reader = await openObject(bucket, "object", { cache, firstBytes: 64 * KB });
  bucket.gets = 0;
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
        const { bytes, reader } = await openBytes(size, new PageCache(budget));
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

it("reads a page once for all that is asked for together, and near pages with one request", async () => {
  const { bucket, reader } = await openBytes(4_000 * KB);
  const together = [130, 140, 190, 260, 3_000, 3_010].map(async (at) => reader.read(at * KB, KB));
  await Promise.all(together);
  expect(bucket.gets).toBe(2);
  await Promise.all([130, 200, 3_000].map(async (at) => reader.read(at * KB, KB)));
  expect(bucket.gets).toBe(2);
});
