import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OidSet, OidTable } from "../../../src/engines/git/oid-table.ts";

const ID_BYTES = 20;

/** Few different ids, alike in their first bytes, so that they meet and collide. */
const oid = fc.integer({ min: 0, max: 3_000 }).map((n) => "0".repeat(36) + n.toString(16).padStart(4, "0"));

describe("OidTable", () => {
  test("numbers ids in the order they come, as a Map would", () => {
    fc.assert(
      fc.property(fc.array(oid, { maxLength: 4_000, size: "max" }), (oids) => {
        const table = new OidTable(ID_BYTES);
        const model = new Map<string, number>();
        for (const id of oids) if (!model.has(id)) model.set(id, model.size);
        expect(oids.map((id) => table.add(id))).toEqual(oids.map((id) => model.get(id)));
        expect(table.size).toBe(model.size);
        const found = [...model.keys()].map((id) => table.find(id));
        expect(found).toEqual([...model.values()]);
        expect(found.map((row) => table.oidAt(row))).toEqual([...model.keys()]);
        expect(table.find("f".repeat(40))).toBe(-1);
      }),
      { numRuns: 6 },
    );
  });

  test("finds nothing for what is no id, and refuses to keep it", () => {
    const table = new OidTable(ID_BYTES);
    table.add("0".repeat(40));
    for (const text of ["", "0".repeat(39), "0".repeat(64), "z".repeat(40), "A".repeat(40)]) {
      expect(table.find(text)).toBe(-1);
      expect(() => table.add(text)).toThrow(RangeError);
    }
  });
});

describe("OidSet", () => {
  test("holds what a Set holds", () => {
    fc.assert(
      fc.property(
        fc.array(oid, { maxLength: 3_000, size: "max" }),
        fc.array(oid, { maxLength: 500 }),
        (oids, taken) => {
          const set = new OidSet(ID_BYTES, oids);
          const model = new Set(oids);
          for (const id of taken) {
            expect(set.has(id)).toBe(model.has(id));
            expect(set.delete(id)).toBe(model.delete(id));
          }
          expect(set.size).toBe(model.size);
          expect([...set]).toEqual([...model]);
          set.clear();
          expect([set.size, [...set]]).toEqual([0, []]);
        },
      ),
      { numRuns: 20 },
    );
  });
});
