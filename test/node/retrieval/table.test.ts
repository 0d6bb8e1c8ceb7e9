import { describe, expect, it } from "vitest";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { inMemory } from "../../../src/engines/search/bytes.ts";
import { openIndex } from "../../../src/engines/search/search-index.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { changeTable, moveContents } from "../../../src/engines/search/change-table.ts";
import { mergeSegments } from "../../../src/engines/search/segment-merge.ts";
import { buildTable } from "../../../src/engines/search/table.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import { tableKey } from "../../../src/service/hosted-index/store.ts";
import type { Target } from "../../../src/service/hosted-index/targets.ts";
import { MemoryBucket } from "../../support/pipeline.ts";
import { seededIntegers } from "../../support/numbers.ts";
import { contentOf, revisionFile, segmentOf, type TestFile, textsOf } from "./support.ts";
import { search } from "../../../src/engines/search/search.ts";

const files: TestFile[] = Array.from({ length: 40 }, (_, i) => ({
  path: `src/part${i % 5}/module${i}.${i % 2 === 0 ? "ts" : "h"}`,
  language: i % 2 === 0 ? "typescript" : "c",
  text: `export function handler${i}() {\n  return ${i};\n}\n`,
}));
const cold = await segmentOf(buildSegment(files.map((file) => analyzeContent(contentOf(file)))));
const { table } = buildTable(files.map(revisionFile), [cold]);

/** The files after an edit of some of them, and a segment over the edited ones. */
async function edited(edits: Record<string, Partial<TestFile>>) {
  const after = files.map((file) => ({ ...file, ...edits[file.path] }));
  const changed = after.filter(({ path }) => edits[path] !== undefined);
  const segment = await segmentOf(buildSegment(changed.map((file) => analyzeContent(contentOf(file)))));
  return { after, segment, changes: new Map(changed.map((file) => [file.path, revisionFile(file)])) };
}

describe("a changed table", () => {
  it("is the one that is built over the same files, byte by byte", async () => {
    const { after, segment, changes } = await edited({
      "src/part0/module0.ts": { text: "export function zebra() {}\n" },
      // A header that has become C++ ranks as another kind of file.
      "src/part3/module13.h": { text: "namespace giraffe {}\n", language: "cpp" },
    });
    const segments = [cold, segment];
    const built = buildTable(after.map(revisionFile), segments);
    expect((await changeTable(inMemory(table), changes, segments))?.table).toEqual(built.table);
    // Again on top of the changed one, in which an edit is undone.
    const undone = new Map([["src/part0/module0.ts", revisionFile(files[0]!)]]);
    const again = after.map((file) => (file.path === "src/part0/module0.ts" ? files[0]! : file));
    expect((await changeTable(inMemory(built.table), undone, segments))?.table).toEqual(
      buildTable(again.map(revisionFile), segments).table,
    );
  });

  it("answers with the new contents, and by the words of paths", async () => {
    const { after, segment, changes } = await edited({
      "src/part2/module2.ts": { text: "export function walrus() {}\n" },
    });
    const { table: changed } = (await changeTable(inMemory(table), changes, [cold, segment]))!;
    const bytesOf = new Map([cold, segment].map(({ id, bytes }) => [id, bytes]));
    const index = await openIndex([{ table: inMemory(changed), segment: (id) => inMemory(bytesOf.get(id)!) }]);
    for (const query of ["walrus", "module2"]) {
      const { results } = await search(index, { query, limit: 1 }, textsOf(after));
      expect(results[0]?.path).toBe("src/part2/module2.ts");
    }
  });

  it("is the one that is built over the same files where paths are new or gone", async () => {
    const random = seededIntegers(7);
    const names = [
      "src/b/walk.c",
      "src/b/walk.h",
      "src/b/walk.H",
      "api/v1/walk.c",
      "api/walk.c",
      "v2/src/b/walk.c",
      "é/ü.ts",
      "\u{1f600}.ts",
    ];
    const fresh = names.map((path, i) => ({
      path,
      language: path.endsWith("ts") ? "typescript" : "c",
      text: `int walk${i};\n`,
    }));
    const other = await segmentOf(buildSegment(fresh.map((file) => analyzeContent(contentOf(file)))));
    const segments = [cold, other];
    let present = new Map(files.map((file) => [file.path, file]));
    let current = table;
    for (let round = 0; round < 60; round++) {
      const changes = new Map<string, ReturnType<typeof revisionFile> | undefined>();
      for (let i = random(4); i >= 0; i--) {
        const file = random(2) === 0 ? fresh[random(fresh.length)]! : files[random(files.length)]!;
        // A file with the content of another one counts as edited.
        const after = random(3) === 0 ? { ...files[random(files.length)]!, path: file.path } : file;
        if (random(2) === 0) present = new Map([...present, [file.path, after]]);
        else present.delete(file.path);
        changes.set(file.path, present.has(file.path) ? revisionFile(after) : undefined);
      }
      for (const [path, change] of changes) if (change) changes.set(path, revisionFile(present.get(path)!));
      const built = buildTable([...present.values()].map(revisionFile), segments);
      const changed = (await changeTable(inMemory(current), changes, segments))!;
      expect(changed.table).toEqual(built.table);
      expect(changed.segmentIds).toEqual(built.segmentIds);
      current = changed.table;
    }
  });

  it("is after a merge the one that is built over the merged segments", async () => {
    const first = await edited({
      "src/part0/module0.ts": { text: "export function zebra() {}\n" },
      "src/part3/module13.h": { text: "namespace giraffe {}\n", language: "cpp" },
    });
    const second = await edited({ "src/part0/module0.ts": { text: "export function walrus() {}\n" } });
    const after = first.after.map((file, i) => (i === 0 ? second.after[0]! : file));
    const segments = [cold, first.segment, second.segment];
    const changed = (await changeTable(inMemory(table), new Map([...first.changes, ...second.changes]), segments))!;
    // Of the first edit's segment only the header is left.
    const header = first.segment.segment.find(first.changes.get("src/part3/module13.h")!);
    const parts = [first.segment, second.segment].map(({ segment }) => segment);
    const merged = await segmentOf(await mergeSegments(parts, (part, ordinal) => part === 1 || ordinal === header));
    const ids = new Set([first.segment.id, second.segment.id]);
    const moved = await moveContents(inMemory(changed.table), ids, [...segments, merged]);
    const built = buildTable(after.map(revisionFile), [cold, merged]);
    expect(moved.table).toEqual(built.table);
    expect(moved.segmentIds).toEqual([cold.id, merged.id]);
  });

  it("is not made where a content is in no segment, or an earlier segment is gone", async () => {
    const added = { path: "src/new.ts", language: "typescript", text: "export const a = 1;\n" };
    const other = await segmentOf(buildSegment([analyzeContent(contentOf(added))]));
    expect(await changeTable(inMemory(table), new Map([[added.path, revisionFile(added)]]), [cold])).toBeUndefined();
    const lost = new Map([[files[0]!.path, { ...revisionFile(added), path: files[0]!.path }]]);
    expect(await changeTable(inMemory(table), lost, [cold])).toBeUndefined();
    expect(await changeTable(inMemory(table), new Map(), [other])).toBeUndefined();
  });
});

it("the digests of hosted tables are kept when the tables are not", async () => {
  const bucket = new MemoryBucket();
  const cache = new SearchCache();
  const text = revisionFile({ path: "", language: "c", text: "int one;\n" });
  const one = await segmentOf(
    buildSegment([analyzeContent(contentOf({ path: "", language: "c", text: "int one;\n" }))]),
  );
  const targets: Target[] = [];
  for (const id of ["a", "b"]) {
    // Together more than are kept open.
    const paths = Array.from({ length: 9_000 }, (_, i) => ({ ...text, path: `${id}/${i}.c` }));
    await bucket.put(tableKey("tenant", id), buildTable(paths, [one]).table);
    targets.push({ tenantId: "tenant", table: id } as Target);
  }
  const digests = () => Promise.all(targets.map((target) => cache.digestOf(bucket, target)));
  const first = await digests();
  bucket.objects.clear();
  cache.ranges.clear();
  expect(await digests()).toEqual(first);
  expect(first[0]).not.toEqual(first[1]);
});
