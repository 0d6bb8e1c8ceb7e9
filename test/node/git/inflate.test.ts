import { randomBytes } from "node:crypto";
import { constants, deflateSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  INFLATE_DONE,
  INFLATE_NEED_INPUT,
  INFLATE_OUT_FULL,
  Inflater,
  WINDOW_BYTES,
} from "../../../src/engines/git/pack/inflate.ts";

/** In a pack at least a trailer follows every stream. */
const TRAILER = new Uint8Array(24).fill(0xaa);

function inflate(compressed: Uint8Array, size: number, steps: readonly number[]): { out: Uint8Array; used: number } {
  const input = new Uint8Array(compressed.length + TRAILER.length);
  input.set(compressed);
  input.set(TRAILER, compressed.length);
  const inflater = new Inflater();
  const start = 5;
  const out = new Uint8Array(size + 2 * start).fill(0x55);
  inflater.reset(start);
  let end = 0;
  let pos = 0;
  for (let step = 0; ; step++) {
    const status = inflater.run(input, pos, end, out, start, start + size, false);
    pos = inflater.inPos;
    if (status === INFLATE_DONE) break;
    if (end === input.length) throw new Error("stuck");
    end = Math.min(input.length, end + (steps[step % steps.length] ?? input.length));
  }
  expect(out.subarray(0, start)).toEqual(new Uint8Array(start).fill(0x55));
  expect(out.subarray(start + size)).toEqual(new Uint8Array(start).fill(0x55));
  expect(inflater.outPos).toBe(start + size);
  return { out: out.subarray(start, start + size), used: pos };
}

const strategies = [
  constants.Z_DEFAULT_STRATEGY,
  constants.Z_FILTERED,
  constants.Z_HUFFMAN_ONLY,
  constants.Z_RLE,
  constants.Z_FIXED,
];

/** Text-like, repetitive, random and mixed contents. */
const content = fc.oneof(
  fc.uint8Array({ maxLength: 3000 }),
  fc.string({ maxLength: 3000 }).map((text) => new TextEncoder().encode(text)),
  fc
    .tuple(
      fc.array(fc.string({ maxLength: 12 }), { minLength: 1, maxLength: 20 }),
      fc.array(fc.nat(1000), { maxLength: 2000 }),
    )
    .map(([words, picks]) => new TextEncoder().encode(picks.map((pick) => words[pick % words.length]).join(" "))),
  fc.tuple(fc.nat(255), fc.nat(70_000)).map(([byte, length]) => new Uint8Array(length).fill(byte)),
);

const options = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  strategy: fc.constantFrom(...strategies),
  memLevel: fc.integer({ min: 1, max: 9 }),
  windowBits: fc.integer({ min: 9, max: 15 }),
});

describe("inflate", () => {
  test("undoes zlib at every level and strategy, whatever the input comes in", () => {
    const steps = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(content, options, steps, (data, settings, steps) => {
        const compressed = deflateSync(data, settings);
        const { out, used } = inflate(compressed, data.length, steps);
        expect(Buffer.compare(out, data)).toBe(0);
        expect(used).toBe(compressed.length);
      }),
      { numRuns: 400 },
    );
  });

  test("handles large mixed contents, byte by byte too", () => {
    const data = Buffer.concat([
      randomBytes(70_000),
      Buffer.from("abc".repeat(60_000)),
      randomBytes(10),
      Buffer.alloc(100_000),
      Buffer.from(Array.from({ length: 40_000 }, (_, i) => (i * i) % 251)),
    ]);
    for (const level of [0, 1, 6, 9]) {
      const compressed = deflateSync(data, { level });
      expect(Buffer.compare(inflate(compressed, data.length, [compressed.length + 24]).out, data)).toBe(0);
      expect(Buffer.compare(inflate(compressed, data.length, [1]).out, data)).toBe(0);
    }
  });

  test("slides through a window", () => {
    const data = Buffer.concat([randomBytes(100_000), Buffer.from("window ".repeat(50_000)), randomBytes(100_000)]);
    for (const level of [0, 6]) {
      const input = Buffer.concat([deflateSync(data, { level }), TRAILER]);
      const inflater = new Inflater();
      const out = new Uint8Array(3 * WINDOW_BYTES);
      inflater.reset(0);
      const parts: Buffer[] = [];
      let from = 0;
      let pos = 0;
      for (;;) {
        const status = inflater.run(input, pos, Math.min(input.length, pos + 5000), out, 0, out.length, true);
        pos = inflater.inPos;
        parts.push(Buffer.from(out.subarray(from, inflater.outPos)));
        from = inflater.outPos;
        if (status === INFLATE_DONE) break;
        if (status === INFLATE_OUT_FULL) {
          out.copyWithin(0, from - WINDOW_BYTES, from);
          inflater.outPos = WINDOW_BYTES;
          from = WINDOW_BYTES;
        }
      }
      expect(Buffer.compare(Buffer.concat(parts), data)).toBe(0);
    }
  });

  test("never hangs or writes outside on damaged input, and agrees with the size", () => {
    const byte = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(content, options, fc.array(byte, { minLength: 1, maxLength: 4 }), (data, settings, flips) => {
        const compressed = Buffer.from(deflateSync(data, settings));
        for (const [at, bits] of flips) compressed[at % compressed.length]! ^= bits;
        try {
          inflate(compressed, data.length, [300]);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      { numRuns: 400 },
    );
  });

  test.each([
    ["bad zlib header", Buffer.from([0x78, 0x9d, 3, 0])],
    ["preset dictionary", Buffer.from([0x78, 0xbb, 3, 0])],
    ["bad block type", Buffer.from([0x78, 0x9c, 7, 0])],
    ["bad stored block", Buffer.from([0x78, 0x9c, 1, 1, 0, 1, 0])],
    ["match before the start", Buffer.from([0x78, 0x9c, 0x03, 0x02, 0x00])],
  ])("refuses: %s", (_name, bytes) => {
    expect(() => inflate(bytes, 1000, [1000])).toThrow(expect.objectContaining({ code: "CORRUPT" }));
  });

  test("refuses more output than announced", () => {
    for (const level of [0, 6]) {
      const compressed = deflateSync(Buffer.alloc(1000, "xyz"), { level });
      expect(() => inflate(compressed, 999, [5000])).toThrow(/longer than announced/);
    }
  });

  test("waits for input instead of guessing", () => {
    const inflater = new Inflater();
    inflater.reset(0);
    expect(inflater.run(new Uint8Array(0), 0, 0, new Uint8Array(8), 0, 8, false)).toBe(INFLATE_NEED_INPUT);
  });
});
