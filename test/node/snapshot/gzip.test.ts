import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gunzip } from "../../../src/engines/snapshot/gunzip.ts";
import { gzip } from "../../../src/engines/snapshot/gzip.ts";

/** Bytes with the repetitions of real data: runs, and copies of what came before at any distance. */
const repetitive = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(300), fc.nat(70_000)), { maxLength: 60 })
  .map((pieces) => {
    const bytes: number[] = [];
    for (const [fresh, length, distance] of pieces) {
      bytes.push(...fresh);
      const start = Math.max(0, bytes.length - 1 - distance);
      for (let i = 0; i < length; i++) bytes.push(bytes[start + i] as number);
    }
    return Uint8Array.from(bytes);
  });

const pseudoRandom = (length: number, symbols: number) => {
  let state = 1;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 24) % symbols;
  });
};

describe("gzip", () => {
  it("is read back by zlib", () => {
    fc.assert(
      fc.property(fc.oneof(repetitive, fc.uint8Array({ maxLength: 3_000 })), (bytes) => {
        expect(new Uint8Array(gunzipSync(gzip(bytes)))).toEqual(bytes);
        expect(gunzip(gzip(bytes), bytes.length)).toHaveLength(bytes.length);
      }),
    );
  });

  it.each([
    ["nothing", new Uint8Array()],
    ["one byte", Uint8Array.of(7)],
    ["stored bytes across blocks", pseudoRandom(300_000, 256)],
    ["one symbol only", new Uint8Array(200_000)],
    ["two symbols", pseudoRandom(200_000, 2)],
    ["literals across blocks", pseudoRandom(200_000, 90)],
    ["Fibonacci frequencies, which want codes longer than 15 bits", Uint8Array.from(fibonacci())],
    ["a match at the largest distance", Uint8Array.from([...pseudoRandom(32_767, 200), ...pseudoRandom(32_767, 200)])],
  ])("copes with %s", (_what, bytes) => {
    expect(Buffer.compare(gunzipSync(gzip(bytes)), bytes)).toBe(0);
  });

  it("comes close to zlib's default level on source code", () => {
    const code = new TextEncoder().encode(gzip.toString().repeat(3) + fibonacci.toString() + pseudoRandom.toString());
    expect(gzip(code).length).toBeLessThan(gzipSync(code).length * 1.1);
  });

  it("gives the bytes of the format version: other bytes need a new one", () => {
    const packed = gzip(pseudoRandom(50_000, 40));
    expect(createHash("sha256").update(packed).digest("hex")).toBe(
      "e458c5cc95c91c37a740040efed2476c401947557edbda0472efcb9a218aefa6",
    );
  });

  it("does not depend on what was compressed before", () => {
    const bytes = pseudoRandom(100_000, 30);
    const first = gzip(bytes);
    gzip(pseudoRandom(80_000, 7));
    expect(gzip(bytes)).toEqual(first);
  });

  it("refuses damage and the wrong size", () => {
    const bytes = pseudoRandom(5_000, 40);
    const packed = gzip(bytes);
    expect(() => gunzip(packed, 4_999)).toThrow();
    expect(() => gunzip(packed, 5_001)).toThrow("expected 5001 bytes");
    for (let at = 10; at < packed.length - 4; at += 7) {
      const damaged = packed.slice();
      damaged[at] = (damaged[at] as number) ^ 16;
      expect(() => gunzip(damaged, 5_000)).toThrow();
    }
  });
});

/** Byte n as often as the nth Fibonacci number, shuffled so that no match is found. */
function fibonacci(): number[] {
  const bytes: number[] = [];
  let [a, b] = [1, 1];
  for (let symbol = 0; symbol < 20; symbol++) {
    for (let i = 0; i < a; i++) bytes.push(symbol);
    [a, b] = [b, a + b];
  }
  const order = pseudoRandom(bytes.length * 2, 256);
  return bytes
    .map((byte, at) => ({ byte, key: (order[at] as number) * 256 + (order[bytes.length + at] as number) }))
    .toSorted((x, y) => x.key - y.key)
    .map(({ byte }) => byte);
}
