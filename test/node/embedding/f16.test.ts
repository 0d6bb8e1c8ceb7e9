import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeF16, encodeF16 } from "../../../src/engines/embedding/index.ts";

/** Half floats of the JavaScript engine (ES2025), which the types of this project's target do not list yet. */
const engine = Math as unknown as { f16round(value: number): number };
type HalfView = DataView & { getFloat16(offset: number, littleEndian: boolean): number };

const LARGEST_HALF = 65504;

function roundtrip(value: number): number {
  return decodeF16(encodeF16(Float32Array.of(value)))[0] as number;
}

describe("float16 vectors", () => {
  it("decodes all 65,536 halves as the engine does", () => {
    const bytes = new Uint8Array(65_536 * 2);
    const view = new DataView(bytes.buffer) as HalfView;
    for (let half = 0; half < 65_536; half++) view.setUint16(half * 2, half, true);
    const decoded = decodeF16(bytes);
    const differing = decoded.filter((value, half) => !Object.is(value, view.getFloat16(half * 2, true)));
    expect(differing).toEqual(new Float32Array(0));
  });

  it("encodes every finite half as itself", () => {
    const halves = Array.from({ length: 65_536 }, (_, half) => half).filter((half) => (half & 0x7c00) !== 0x7c00);
    const bytes = new Uint8Array(Uint16Array.from(halves).buffer);
    expect(encodeF16(decodeF16(bytes))).toEqual(bytes);
  });

  it("rounds any float32 to the nearest half, ties to even, and saturates", () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true }), (value) => {
        const rounded = engine.f16round(value);
        const expected = Number.isFinite(rounded) ? rounded : Math.sign(rounded) * LARGEST_HALF;
        expect(roundtrip(value)).toBe(expected);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    [65519.99, LARGEST_HALF],
    [65520, LARGEST_HALF],
    [Infinity, LARGEST_HALF],
    [-Infinity, -LARGEST_HALF],
    [2 ** -25, 0],
    [1.5 * 2 ** -24, 2 ** -23],
    [2 ** -24, 2 ** -24],
    [2 ** -14 - 2 ** -26, 2 ** -14],
    [-0, -0],
    [1 + 2 ** -11, 1],
    [1 + 3 * 2 ** -11, 1 + 2 ** -9],
    [NaN, 0],
  ])("takes %d to %d", (value, expected) => {
    expect(roundtrip(value)).toBe(expected);
  });

  it("is little-endian, two bytes a component", () => {
    expect([...encodeF16(Float32Array.of(1, -2))]).toEqual([0x00, 0x3c, 0x00, 0xc0]);
  });

  it("refuses half a component", () => {
    expect(() => decodeF16(new Uint8Array(3))).toThrow(RangeError);
  });
});
