import * as fc from "fast-check";
import { expect, it } from "vitest";
import { packFile, unpackFile } from "../../../src/cli/indexing/packed-file.ts";
import type { Chunk, CodeSymbol } from "../../../src/engines/parsing/types.ts";

const number = fc.integer({ min: 0, max: 2 ** 31 });
const text = fc.string({ unit: "binary", maxLength: 40 });
const symbol: fc.Arbitrary<CodeSymbol> = fc.record({
  kind: text,
  name: text,
  qualifiedName: text,
  signature: text,
  doc: fc.option(text),
  parent: fc.option(number),
  startLine: number,
  endLine: number,
  startByte: number,
  endByte: number,
});
const chunk: fc.Arbitrary<Chunk> = fc.record({
  text: fc.oneof(text, fc.constant("\ud800 lone, \u0000, \ufeff")),
  context: text,
  hash: fc.constant("ab".repeat(32)),
  symbol: fc.option(number),
  startLine: number,
  endLine: number,
  startByte: number,
  endByte: number,
  withheld: fc.boolean(),
});

it("gives back the symbols and chunks that were packed, apart from the hashes", () => {
  fc.assert(
    fc.property(fc.array(symbol, { maxLength: 8 }), fc.array(chunk, { maxLength: 8 }), (symbols, chunks) => {
      const packed = packFile(symbols, chunks);
      expect(packed.symbolCount).toBe(symbols.length);
      expect(packed.chunks).toEqual(chunks.map(({ hash, withheld }) => ({ hash, withheld })));
      const unpacked = unpackFile(packed.bytes);
      expect(unpacked.symbols).toEqual(symbols);
      for (const [i, { hash, ...rest }] of chunks.entries())
        expect({ ...unpacked.chunks[i], hash }).toEqual({ ...rest, hash });
      expect(unpacked.chunks.length).toBe(chunks.length);
    }),
  );
});
