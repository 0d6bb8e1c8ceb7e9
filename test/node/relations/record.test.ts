import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeUses } from "../../../src/engines/relations/record.ts";
import { WantedNames } from "../../../src/engines/relations/record-strings.ts";
import { decodeUses } from "../../../src/engines/relations/stored-uses.ts";
import {
  callbackKey,
  type ClassInfo,
  type FileUses,
  type Meaning,
  type Use,
} from "../../../src/engines/relations/types.ts";
import { SearchFormatError } from "../../../src/engines/search/types.ts";
import { sharedParser } from "../parsing/support.ts";

const line = fc.integer({ min: 1, max: 2 ** 22 });
const name = fc.string({ maxLength: 40 }).map((text) => text.toWellFormed());
const { meaning } = fc.letrec<{ meaning: Meaning }>((tie) => ({
  meaning: fc.oneof(
    { maxDepth: 12 },
    fc.constantFrom<Meaning>({ to: "opaque" }, { to: "ambiguous" }, { to: "global" }),
    fc.record({ to: fc.constant("local" as const), line }),
    fc.record({
      to: fc.constant("import" as const),
      module: name,
      name: fc.oneof(name, fc.constantFrom("default", "*")),
    }),
    fc.record({ to: fc.constant("variable" as const), line, of: tie("meaning") }),
    fc.record({ to: fc.constant("member" as const), of: tie("meaning"), name }),
    fc.record({ to: fc.constant("returned" as const), by: tie("meaning") }),
    fc.record({ to: fc.constant("instance" as const), of: tie("meaning") }),
    fc.record({ to: fc.constant("likely" as const), of: tie("meaning") }),
    fc.record({ to: fc.constant("decorated" as const), line, by: tie("meaning") }),
    fc.record({ to: fc.constant("overload" as const), line, takes: fc.nat(4095) }),
    fc.record({ to: fc.constant("either" as const), of: tie("meaning"), otherwise: tie("meaning") }),
    fc.record({ to: fc.constant("handed" as const), by: tie("meaning"), at: fc.nat(63) }),
  ),
}));
/** The name that a use has in the module that it is imported from. */
const aliased = ({ name: written, meaning: of }: Use): string => (of.to === "import" ? of.name : written);
const named = fc.array(fc.tuple(name, meaning), { maxLength: 5 }).map((entries) => new Map(entries));
const use: fc.Arbitrary<Use> = fc.record(
  {
    kind: fc.constantFrom("call", "construct", "inherit", "decorator", "reference"),
    name,
    line,
    enclosing: fc.option(name),
    meaning,
    arguments: fc.nat(30),
  },
  { requiredKeys: ["kind", "name", "line", "enclosing", "meaning"] },
);
const member = fc.record({ line, type: meaning }, { requiredKeys: ["line"] });
const ofClass = fc.record<ClassInfo>({
  line,
  members: fc.array(fc.tuple(name, member), { maxLength: 4 }).map((entries) => new Map(entries)),
  bases: fc.array(meaning, { maxLength: 3 }),
});
const fileUses = fc.record<FileUses>({
  imports: fc.array(fc.record({ module: name, name, line }), { maxLength: 4 }),
  uses: fc.array(use, { maxLength: 8 }),
  bindings: named,
  exports: named,
  stars: fc.array(name, { maxLength: 3 }),
  classes: fc.array(ofClass, { maxLength: 3 }),
  returns: fc.array(fc.tuple(line, meaning), { maxLength: 3 }).map((entries) => new Map(entries)),
  callbacks: fc
    .array(fc.tuple(line, fc.nat(63), meaning), { maxLength: 3 })
    .map((entries) => new Map(entries.map(([at, parameter, of]) => [callbackKey(at, parameter), of]))),
});

describe("the record of a file's uses", () => {
  it("decodes to what was encoded", () => {
    const check = (uses: FileUses) => {
      const { usesOf: _, ...stored } = decodeUses(encodeUses(uses));
      expect(stored).toEqual(uses);
    };
    fc.assert(fc.property(fileUses, check), { numRuns: 300 });
  });

  it("decodes the uses that may be of some names", () => {
    const wholes = new Set(["default", "*"]);
    const check = (uses: FileUses, other: string) => {
      const names = new Set([other, uses.uses[0]?.name ?? "", ...uses.uses.slice(1, 2).map(aliased)]);
      const isWhole = ({ meaning: of }: Use) => of.to === "import" && wholes.has(of.name);
      const mayBe = (each: Use) => names.has(each.name) || names.has(aliased(each)) || isWhole(each);
      expect(decodeUses(encodeUses(uses)).usesOf(new WantedNames(names))).toEqual(uses.uses.filter(mayBe));
    };
    fc.assert(fc.property(fileUses, name, check), { numRuns: 300 });
  });

  it("reports damage as such, whatever the bytes are", () => {
    const check = (bytes: Uint8Array) => {
      try {
        const { usesOf: _, ...parts } = decodeUses(bytes);
        for (const part of Object.values(parts))
          expect(Array.isArray(part) ? part.length : part.size).toBeLessThanOrEqual(bytes.length);
      } catch (error) {
        expect(error).toBeInstanceOf(SearchFormatError);
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), check));
    const cutOrChanged = fc.tuple(fileUses, fc.nat(), fc.nat(255)).map(([uses, at, value]) => {
      const bytes = encodeUses(uses).slice();
      bytes[at % bytes.length] = value;
      return bytes.subarray(0, value % 2 === 0 ? bytes.length : at % bytes.length);
    });
    fc.assert(fc.property(cutOrChanged, check), { numRuns: 300 });
  });

  it("writes equal meanings once, however many uses have them", () => {
    const uses = Array.from({ length: 50_000 }, () => use1);
    expect(encodeUses({ ...nothing, uses }).length).toBeLessThan(5 * uses.length + 100);
  });

  it("is made by the parser, without secrets", async () => {
    const parser = await sharedParser();
    const text = 'import { a } from "./a";\nexport function f() {\n  return a();\n}\n';
    const { uses } = await parser.parse({ bytes: Buffer.from(text), language: "typescript" });
    expect(decodeUses(uses ?? new Uint8Array()).uses).toEqual([
      { kind: "call", name: "a", line: 3, enclosing: "f", meaning: { to: "import", module: "./a", name: "a" } },
    ]);
    const token = `ghp_${"a8Kd02mQx7Lw93Vb".repeat(3).slice(0, 36)}`;
    const secret = `import { a } from "https://${token}@host.example/a.js";\na();\n`;
    const parsed = await parser.parse({ bytes: Buffer.from(secret), language: "typescript" });
    expect(parsed.withheldLines).toEqual([[1, 1]]);
    expect(Buffer.from(parsed.uses ?? []).toString()).not.toContain(token.slice(0, 12));
    expect((await parser.parse({ bytes: Buffer.from("# title\n"), language: "markdown" })).uses).toBeUndefined();
  });
});

const nothing: FileUses = {
  imports: [],
  uses: [],
  bindings: new Map(),
  exports: new Map(),
  stars: [],
  classes: [],
  returns: new Map(),
  callbacks: new Map(),
};
const use1: Use = { kind: "call", name: "f", line: 2, enclosing: null, meaning: { to: "local", line: 1 } };
