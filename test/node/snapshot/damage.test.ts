import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { SEGMENT_VERSION } from "../../../src/engines/search/segment.ts";
import { openSnapshot } from "../../../src/engines/snapshot/reader.ts";
import { type SnapshotFile, SnapshotFormatError } from "../../../src/engines/snapshot/types.ts";
import { writeSnapshot } from "../../../src/engines/snapshot/writer.ts";
import { collect, fixtureFiles, memoryBytes, memorySink, sourceOf } from "./fixture.ts";

let artifact: Uint8Array;
let original: string;

const text = (files: SnapshotFile[]) =>
  JSON.stringify(files, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value,
  );

async function readAll(bytes: Uint8Array): Promise<string> {
  const reader = await openSnapshot(memoryBytes(bytes));
  const segments = await collect(reader.searchSegments(SEGMENT_VERSION));
  return text(await collect(reader.files())) + segments.map((segment) => Buffer.from(segment).toString("hex")).join();
}

/** A damaged artifact is refused as such, or the damage did not touch what is read. It never makes anything else of it. */
async function expectRefusedOrWhole(bytes: Uint8Array): Promise<"refused" | "whole"> {
  try {
    expect(await readAll(bytes)).toBe(original);
    return "whole";
  } catch (error) {
    expect(error).toBeInstanceOf(SnapshotFormatError);
    return "refused";
  }
}

describe("a damaged artifact", () => {
  beforeAll(async () => {
    const sink = memorySink();
    await writeSnapshot(sourceOf(fixtureFiles(12)), sink.write);
    artifact = sink.bytes();
    original = await readAll(artifact);
  });

  it("is refused when cut anywhere", async () => {
    for (let length = 0; length < artifact.length; length += 1 + (length >> 6)) {
      expect(await expectRefusedOrWhole(artifact.subarray(0, length))).toBe("refused");
      expect(await expectRefusedOrWhole(artifact.subarray(artifact.length - length))).toBe("refused");
    }
  });

  it("is refused when a compressed page, a length or the footer is hit", async () => {
    let refused = 0;
    let tries = 0;
    for (let at = 0; at < artifact.length; at += 13) {
      for (const bit of [0x01, 0x80]) {
        const damaged = artifact.slice();
        damaged[at] = (damaged[at] as number) ^ bit;
        tries++;
        try {
          await readAll(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(SnapshotFormatError);
          refused++;
        }
      }
    }
    // The rest only the checksum of the whole file tells: statistics, and fields of gzip and the footer that nobody needs.
    expect(refused / tries).toBeGreaterThan(0.85);
  });

  it("neither hangs nor grows on garbage", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 12 })), { minLength: 1, maxLength: 4 }),
        async (wounds) => {
          const damaged = artifact.slice();
          for (const [position, bytes] of wounds) damaged.set(bytes, position % (damaged.length - bytes.length));
          try {
            await readAll(damaged);
          } catch (error) {
            expect(error).toBeInstanceOf(SnapshotFormatError);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("takes no memory that its bytes do not justify", async () => {
    // A list of 30 million structures, and lists within lists that reserve as much each.
    const list = [0x29, 0xfc, 0x80, 0x80, 0xa7, 0x0e];
    const nested = Array.from({ length: 40 }, () => [0xf9, 0x80, 0x80, 0xa7, 0x0e]).flat();
    const varint = Array.from({ length: 200 }, () => 0x80);
    const deep = Array.from({ length: 250 }, () => 0x1c);
    const many = [0x49, 0xfc, 0xff, 0x01, ...Array.from({ length: 260 }, () => 0)];
    for (const footer of [list, [0x29, ...nested], [0x06, ...varint], deep, many, [0x18, 0xff, 0xff, 0xff, 0x7f]]) {
      const bytes = Buffer.concat([
        Buffer.from("PAR1"),
        Buffer.from(footer),
        Buffer.from(Uint32Array.of(footer.length).buffer),
        Buffer.from("PAR1"),
      ]);
      const before = process.memoryUsage();
      await expect(readAll(bytes)).rejects.toThrow(SnapshotFormatError);
      const after = process.memoryUsage();
      expect(after.heapUsed - before.heapUsed).toBeLessThan(20_000_000);
      expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(20_000_000);
    }
  });

  it("is refused, whatever stands in its footer", async () => {
    const footerBytes = new DataView(artifact.buffer, artifact.byteOffset + artifact.length - 8, 4).getUint32(0, true);
    const start = artifact.length - 8 - footerBytes;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(footerBytes - 1), fc.uint8Array({ minLength: 1, maxLength: 8 })), { minLength: 1 }),
        fc.option(fc.nat(footerBytes + 100)),
        async (wounds, length) => {
          const damaged = artifact.slice();
          for (const [position, bytes] of wounds) damaged.set(bytes.slice(0, footerBytes - position), start + position);
          if (length !== null) new DataView(damaged.buffer).setUint32(damaged.length - 8, length, true);
          await expectRefusedOrWhole(damaged);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("says what is wrong", async () => {
    await expect(readAll(new Uint8Array(3))).rejects.toThrow("too short");
    await expect(readAll(new TextEncoder().encode("hello, this is not a snapshot"))).rejects.toThrow("no Parquet file");
    const reader = {
      byteLength: artifact.length,
      read: async (start: number, end: number) => artifact.subarray(start, end - 1),
    };
    await expect(openSnapshot(reader)).rejects.toThrow("truncated");
    const failing = { byteLength: artifact.length, read: () => Promise.reject(new TypeError("the disk is gone")) };
    await expect(openSnapshot(failing)).rejects.toThrow("the disk is gone");
  });

  it.each(["/etc/passwd", "../outside", "a/../b", "a//b", "."])("does not follow %s", async (path) => {
    const sink = memorySink();
    await writeSnapshot(sourceOf([{ ...(fixtureFiles(1)[0] as SnapshotFile), path }]), sink.write);
    await expect(readAll(sink.bytes())).rejects.toThrow("not a path inside a repository");
  });
});
