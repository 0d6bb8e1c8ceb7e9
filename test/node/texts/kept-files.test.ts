import { beforeAll, expect, it } from "vitest";
import { encodeFileList } from "../../../src/engines/texts/file-list.ts";
import { TextCache } from "../../../src/service/hosted-index/whole-texts/cache.ts";
import { LIST_ID_PREFIX, listKey } from "../../../src/service/hosted-index/whole-texts/store.ts";
import { filesOfTargets, type TextDeps } from "../../../src/service/hosted-index/whole-texts/text-files.ts";
import { MemoryBucket } from "../../support/pipeline.ts";

const TENANT = "tenant";
const bucket = new MemoryBucket();

beforeAll(async () => {
  // More in one or two of them than an isolate keeps lists of.
  for (const [id, count] of Object.entries({ few: 10, some: 25_000, more: 40_000, most: 70_000 })) {
    const text = (ordinal: number) => ({ pack: `pack of ${id}`, ordinal });
    const file = { state: "indexed" as const, reason: null, language: "c", size: 1, withheldLines: 0 };
    const files = Array.from({ length: count }, (_, i) => ({ ...file, path: `${id}/${i}.c`, text: text(i) }));
    await bucket.put(listKey(TENANT, LIST_ID_PREFIX + id), encodeFileList(files));
  }
});

/** The files of some lists, as one isolate gives them. */
function isolate() {
  const texts = new TextCache();
  const deps: Partial<TextDeps> = { bucket, texts };
  return (...ids: string[]) =>
    filesOfTargets(
      deps as TextDeps,
      ids.map((id) => ({ tenantId: TENANT, workspaceId: id, seq: 1, baseSeq: 0, textList: LIST_ID_PREFIX + id })),
    );
}

it("files are kept for as long as their lists are", async () => {
  const filesOf = isolate();
  const both = await filesOf("few", "some");
  const some = await filesOf("some");
  expect(both).toHaveLength(25_010);
  expect(await filesOf("few", "some")).toBe(both);
  expect(await filesOf("some")).toBe(some);
  // Together more than an isolate keeps.
  await filesOf("more");
  expect(await filesOf("some")).not.toBe(some);
  expect(await filesOf("few", "some")).not.toBe(both);
});

it("more files than their bound are not kept", async () => {
  const filesOf = isolate();
  const most = await filesOf("most");
  expect(most).toHaveLength(70_000);
  const again = await filesOf("most");
  expect(again).not.toBe(most);
  expect(again.at(-1)?.path).toBe(most.at(-1)?.path);
});
