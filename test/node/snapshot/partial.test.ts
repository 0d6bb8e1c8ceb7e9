import { describe, expect, it } from "vitest";
import { openSnapshot, writeSnapshot } from "../../../src/snapshot/index.ts";
import { collect, fixtureFiles, memoryBytes, memorySink, sourceOf } from "./fixture.ts";

const files = fixtureFiles(40);

async function artifact() {
  const sink = memorySink();
  await writeSnapshot(sourceOf(files), sink.write);
  return openSnapshot(memoryBytes(sink.bytes()));
}

describe("reading without the chunks' bodies", () => {
  it("gives everything else, and tells which chunks are withheld and which have a vector", async () => {
    const read = await collect((await artifact()).files({ bodies: false }));
    expect(read).toEqual(
      files.map((file) => ({
        ...file,
        chunks: file.chunks.map((chunk) => ({
          ...chunk,
          text: "",
          context: "",
          hash: "",
          vector: chunk.vector && new Uint8Array(0),
        })),
      })),
    );
  });
});

describe("vectors by hash", () => {
  it("finds those that are there", async () => {
    const chunks = files.flatMap((file) => file.chunks);
    const wanted = new Set([...chunks.filter((_, at) => at % 3 === 0).map(({ hash }) => hash), "00".repeat(32)]);
    const found = await collect((await artifact()).vectors(wanted));
    const expected = new Map(
      chunks.flatMap(({ hash, vector }) => (vector !== undefined && wanted.has(hash) ? [[hash, vector] as const] : [])),
    );
    expect(new Map(found.map(({ hash, vector }) => [hash, Uint8Array.from(vector)]))).toEqual(expected);
    expect(expected.size).toBeGreaterThan(5);
  });
});
