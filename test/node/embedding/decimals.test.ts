import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shortDecimals } from "../../../src/engines/embedding/decimals.ts";

const write = (vector: Float32Array) => JSON.stringify(shortDecimals(vector));
const read = (vector: Float32Array) => Float32Array.from(JSON.parse(write(vector)) as number[]);
const unsigned = (vector: Float32Array) => vector.map((component) => (component === 0 ? 0 : component));

describe("shortDecimals", () => {
  it("reads back as the same vector, whatever is in it", () => {
    fc.assert(
      fc.property(fc.float32Array({ noNaN: true, noDefaultInfinity: true, maxLength: 200 }), (vector) => {
        expect(read(vector)).toEqual(unsigned(vector));
      }),
    );
  });

  it("reads back as the same vector where vectors mostly are", () => {
    const component = fc.double({ min: -1, max: 1, noNaN: true }).map(Math.fround);
    fc.assert(
      fc.property(fc.array(component, { maxLength: 200 }), (components) => {
        const vector = Float32Array.from(components);
        expect(read(vector)).toEqual(unsigned(vector));
      }),
    );
  });

  it("writes what people write the way they write it", () => {
    const decimals = [
      0, 1, -1, 0.1, 0.2, 0.3, -0.5, 0.25, 0.9, 0.999999, 0.123456, 0.001, 0.0001, -0.00012, 0.00001, 42.5, 1e-7, 1e10,
      3.4e38,
    ];
    expect(write(Float32Array.from(decimals))).toBe(JSON.stringify(decimals));
    expect(write(new Float32Array())).toBe("[]");
  });

  it("is never longer than the doubles would be", () => {
    fc.assert(
      fc.property(fc.float32Array({ noNaN: true, noDefaultInfinity: true }), (vector) => {
        expect(write(vector).length).toBeLessThanOrEqual(JSON.stringify(Array.from(vector)).length);
      }),
    );
  });
});
