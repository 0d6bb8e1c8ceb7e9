import { describe, expect, it } from "vitest";
import { checkSegment, type CheckedContent } from "../../../src/engines/search/check-segment.ts";
import { SEGMENT_VERSION, Segment } from "../../../src/engines/search/segment.ts";
import { SEARCH_KEY } from "../../../src/engines/snapshot/search-places.ts";
import { openSnapshot } from "../../../src/engines/snapshot/reader.ts";
import type { SnapshotFile } from "../../../src/engines/snapshot/types.ts";
import { writeSnapshot } from "../../../src/engines/snapshot/writer.ts";
import { collect, fixtureFiles, memoryBytes, memorySink, sourceOf } from "./fixture.ts";

async function artifactOf(files: readonly SnapshotFile[]): Promise<Uint8Array> {
  const sink = memorySink();
  await writeSnapshot(sourceOf(files), sink.write);
  return sink.bytes();
}

async function segmentsOf(artifact: Uint8Array): Promise<Uint8Array[]> {
  return collect((await openSnapshot(memoryBytes(artifact))).searchSegments(SEGMENT_VERSION));
}

async function contentsOf(segments: readonly Uint8Array[]): Promise<CheckedContent[]> {
  const all = segments.map(async (bytes) => {
    const read = (offset: number, length: number) => bytes.subarray(offset, offset + length);
    return checkSegment(await Segment.open({ size: bytes.length, read }));
  });
  return (await Promise.all(all)).flat();
}

/** Contents of files, each once, in the order of their keys. */
function distinct(files: readonly SnapshotFile[]): CheckedContent[] {
  const contents = new Map(
    files.map(({ contentHash, language, chunks, symbols }) => [
      `${contentHash} ${language}`,
      { sha256: contentHash, language, chunkCount: chunks.length, symbolCount: symbols.length },
    ]),
  );
  return [...contents].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, content]) => content);
}

/** Changes the entry that tells where the segments lie, without changing its length. */
function patched(artifact: Uint8Array, from: RegExp, to: (found: string) => string): Uint8Array {
  const bytes = Buffer.from(artifact);
  const at = bytes.indexOf(SEARCH_KEY);
  const text = bytes.subarray(at).toString("latin1");
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  expect(changed).toHaveLength(text.length);
  bytes.write(changed, at, "latin1");
  return bytes;
}

describe("search segments of an artifact", () => {
  it("hold each content once, whatever its paths", async () => {
    const files = fixtureFiles();
    const segments = await segmentsOf(await artifactOf(files));
    expect(segments).toHaveLength(1);
    expect(await contentsOf(segments)).toEqual(distinct(files));
    const renamed = files.map((file) => Object.assign({}, file, { path: `moved/${file.path}` }));
    expect(await segmentsOf(await artifactOf(renamed))).toEqual(segments);
  });

  it("are several where one would take too much memory, and lie between row groups", async () => {
    const [file] = fixtureFiles(1) as [SnapshotFile];
    // Terms take room in a segment for each chunk that has them, so the same words will do.
    const text = Array.from(
      { length: 2_500 },
      (_, word) => `w${word.toString(26).replaceAll(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)]!)}`,
    ).join(" ");
    const chunks = Array.from({ length: 45 }, () => ({ ...file.chunks[0]!, text }));
    const large = Array.from({ length: 12 }, (_, index): SnapshotFile => ({
      ...file,
      path: `large-${String(index).padStart(2, "0")}`,
      contentHash: String(index).padStart(64, "0"),
      chunks,
    }));
    const artifact = await artifactOf(large);
    const segments = await segmentsOf(artifact);
    expect(segments.length).toBeGreaterThan(1);
    expect(await contentsOf(segments)).toEqual(distinct(large));
    const paths = (await collect((await openSnapshot(memoryBytes(artifact))).files())).map(({ path }) => path);
    expect(paths).toEqual(large.map(({ path }) => path));
  });

  it("are left alone by a program whose segments are of another version", async () => {
    const artifact = await artifactOf(fixtureFiles(3));
    const reader = await openSnapshot(memoryBytes(artifact));
    expect(await collect(reader.searchSegments(SEGMENT_VERSION + 1))).toEqual([]);
  });

  it.each<[string, RegExp, (found: string) => string]>([
    ["begin elsewhere", /"start":\d/, (found) => `${found.slice(0, -1)}${(Number(found.at(-1)) % 9) + 1}`],
    ["end before they begin", /"end":\d/, () => '"end":0'],
    ["lie somewhere that is no number", /"end":\d/, () => '"end":""'.slice(0, 7)],
    ["have no size", /"sizeBytes"/, () => '"sizeXytes"'],
    ["have no version", /"segmentVersion"/, () => '"segmentXersion"'],
    ["are no list", /\[\{/, () => "{{"],
  ])("make the artifact unreadable where they %s", async (_, from, to) => {
    const artifact = patched(await artifactOf(fixtureFiles(3)), from, to);
    await expect(openSnapshot(memoryBytes(artifact))).rejects.toThrow("footer");
  });

  it("are refused where they expand to another size than they say, before memory is taken for it", async () => {
    const artifact = await artifactOf(fixtureFiles(3));
    const swap = (digit: string): string => String((Number(digit) % 9) + 1);
    const wrong = patched(artifact, /"sizeBytes":\d/, (found) => found.slice(0, -1) + swap(found.at(-1) ?? ""));
    await expect(segmentsOf(wrong)).rejects.toThrow("search segment: damaged");
    expect(await collect((await openSnapshot(memoryBytes(wrong))).files())).toHaveLength(3);
  });
});
