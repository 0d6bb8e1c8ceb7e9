import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { Segment } from "../../../src/engines/search/segment.ts";
import { SearchFormatError } from "../../../src/engines/search/types.ts";
import { encodeFileList, FileList } from "../../../src/engines/texts/file-list.ts";
import { cachedBucket } from "../../../src/service/hosted-index/platform-cache.ts";
import { openObject } from "../../../src/service/hosted-index/read.ts";
import type { SearchBucket } from "../../../src/service/hosted-index/store.ts";

const SIZE = 300_000;
/** Read when an object is opened. */
const FIRST_BYTES = 1_000;

describe("an object of the index in R2", () => {
  it("is read by range", async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    await env.SNAPSHOTS.put("whole", bytes);
    const reader = await openObject(env.SNAPSHOTS, "whole", { firstBytes: FIRST_BYTES });
    expect(reader.size).toBe(bytes.length);
    expect(await reader.read(59_990, 10)).toEqual(bytes.subarray(59_990));
  });

  it("is damaged if it was made shorter while it is open, wherever it now ends", async () => {
    for (const left of [0, 1, FIRST_BYTES, 200_000, 250_000, SIZE - 1]) {
      await env.SNAPSHOTS.put("shortened", new Uint8Array(SIZE));
      const reader = await openObject(env.SNAPSHOTS, "shortened", { firstBytes: FIRST_BYTES });
      await env.SNAPSHOTS.put("shortened", new Uint8Array(left));
      const read = async () => reader.read(SIZE - 70_000, 70_000);
      await expect(read(), `${left} bytes left`).rejects.toThrow(SearchFormatError);
    }
  });

  it("is damaged if it is missing or empty", async () => {
    await expect(openObject(env.SNAPSHOTS, "nothing")).rejects.toThrow(SearchFormatError);
    await env.SNAPSHOTS.put("empty", new Uint8Array());
    await expect(Segment.open(await openObject(env.SNAPSHOTS, "empty"))).rejects.toThrow(SearchFormatError);
  });
});

describe("the platform's cache in front of R2", () => {
  const open = () => caches.open("search-test");

  /** A bucket that counts its reads, and the tasks that end after the answer. */
  function counting(isDamaged: (key: string) => boolean = () => false) {
    const reads: string[] = [];
    const tasks: Promise<unknown>[] = [];
    const counted = {
      get: (key: string, options?: { range: { offset: number; length: number } }) => {
        reads.push(key);
        return env.SNAPSHOTS.get(key, options);
      },
      head: (key: string) => env.SNAPSHOTS.head(key),
      put: (key: string, value: Uint8Array) => env.SNAPSHOTS.put(key, value),
      delete: (keys: string | string[]) => env.SNAPSHOTS.delete(keys),
      list: (options: { prefix: string; cursor?: string }) => env.SNAPSHOTS.list(options),
    };
    const bucket = cachedBucket(counted, open, { isDamaged, later: (task) => void tasks.push(task) });
    return { bucket, reads, settled: () => Promise.all(tasks) };
  }

  it("answers what an isolate has read for those that have not, by tenant, in every range", async () => {
    const bytes = Uint8Array.from({ length: SIZE }, (_, i) => i * 7);
    const [own, foreign] = [`search/${crypto.randomUUID()}/segments/3-a`, `search/${crypto.randomUUID()}/segments/3-a`];
    await env.SNAPSHOTS.put(own, bytes);
    const read = async (bucket: SearchBucket) => {
      const reader = await openObject(bucket, own, { firstBytes: FIRST_BYTES });
      expect(reader.size).toBe(SIZE);
      expect(await reader.read(SIZE - 10, 10)).toEqual(bytes.subarray(SIZE - 10));
      expect(await reader.read(FIRST_BYTES - 5, 70_000)).toEqual(bytes.subarray(FIRST_BYTES - 5, FIRST_BYTES + 69_995));
    };
    const first = counting();
    await read(first.bucket);
    expect(first.reads).toHaveLength(3);
    await first.settled();
    const second = counting();
    await read(second.bucket);
    expect(second.reads).toEqual([]);
    // Another tenant's object of the same name is another object.
    await expect(openObject(second.bucket, foreign, { firstBytes: FIRST_BYTES })).rejects.toThrow(SearchFormatError);
    // Only search objects are kept.
    await env.SNAPSHOTS.put("texts/a", bytes);
    for (let i = 0; i < 2; i++) await openObject(second.bucket, "texts/a", { firstBytes: FIRST_BYTES });
    expect(second.reads).toEqual([foreign, "texts/a", "texts/a"]);
  });

  it("is passed over for a damaged object, for a copy of the wrong length, and if it fails", async () => {
    const key = `search/${crypto.randomUUID()}/segments/3-b`;
    await env.SNAPSHOTS.put(key, new Uint8Array(SIZE).fill(7));
    const first = counting();
    await openObject(first.bucket, key, { firstBytes: FIRST_BYTES });
    await first.settled();
    const damaged = counting((own) => own === key);
    await openObject(damaged.bucket, key, { firstBytes: FIRST_BYTES });
    expect(damaged.reads).toEqual([key]);
    const address = `https://search.invalid/${key}?0-${FIRST_BYTES}`;
    const headers = { "Cache-Control": "max-age=60", "X-Object-Size": String(SIZE) };
    await (await open()).put(address, new Response(new Uint8Array(FIRST_BYTES - 1), { headers }));
    const short = counting();
    const reader = await openObject(short.bucket, key, { firstBytes: FIRST_BYTES });
    expect(short.reads).toEqual([key]);
    expect(await reader.read(0, 4)).toEqual(new Uint8Array(4).fill(7));
    const failing = { match: () => Promise.reject(new Error("away")), put: () => Promise.reject(new Error("away")) };
    const bucket = cachedBucket(env.SNAPSHOTS, async () => failing, { isDamaged: () => false, later: () => {} });
    expect((await openObject(bucket, key, { firstBytes: FIRST_BYTES })).size).toBe(SIZE);
  });
});

/** Only workerd counts the buffers that it inflates into, so this cannot fail in Node. */
it("a file list of any length is opened", async () => {
  for (let count = 100; count < 20_000; count = Math.ceil(count * 1.1)) {
    const files = Array.from({ length: count }, (_, i) => ({
      path: `src/${(Math.imul(i, 2_654_435_761) >>> 0).toString(36)}.ts`,
      state: "indexed" as const,
      reason: null,
      language: "typescript",
      size: i,
      withheldLines: 0,
      text: { pack: "1-a", ordinal: i },
    }));
    const bytes = encodeFileList(files);
    const list = await FileList.open({
      size: bytes.length,
      read: (offset, length) => bytes.subarray(offset, offset + length),
    });
    expect(list.length).toBe(count);
  }
});
