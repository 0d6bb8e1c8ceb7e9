import { expect, it } from "vitest";
import { textName } from "../../../src/engines/texts/file-list.ts";
import { PackBuilder } from "../../../src/engines/texts/pack.ts";
import { TextCache } from "../../../src/service/hosted-index/whole-texts/cache.ts";
import { HostedTexts } from "../../../src/service/hosted-index/whole-texts/hosted-texts.ts";
import { packKey } from "../../../src/service/hosted-index/whole-texts/store.ts";
import type { TextDeps } from "../../../src/service/hosted-index/whole-texts/text-files.ts";
import { MemoryBucket } from "../../support/pipeline.ts";
import { readsAtOnce } from "../../support/reads-at-once.ts";

const TENANT = "tenant";
const PACKS = Array.from({ length: 12 }, (_, i) => `pack${i}`);
/** Packs that are opened at once, and parts that are read meanwhile. */
const MAX_REQUESTS = 4 + 3;

it("packs are opened ahead of those that are read, a few at a time", async () => {
  const bucket = new MemoryBucket();
  for (const pack of PACKS) {
    const builder = new PackBuilder();
    builder.add({ sha256: "00".repeat(32), bytes: Buffer.from(`text of ${pack}\n`), lineCount: 1, withheld: [] });
    await bucket.put(packKey(TENANT, pack), builder.finish());
  }
  const most = readsAtOnce(bucket);
  const deps: Partial<TextDeps> = { bucket, texts: new TextCache() };
  const texts = new HostedTexts(deps as TextDeps, [
    { tenantId: TENANT, workspaceId: "w", seq: 1, baseSeq: 0, textList: "list" },
  ]);
  const read: string[] = [];
  for await (const text of texts.read(PACKS.map((pack) => textName(pack, 0))))
    if ("bytes" in text) read.push(Buffer.from(text.bytes).toString());
  expect(read).toEqual(PACKS.map((pack) => `text of ${pack}\n`));
  expect(most()).toBeGreaterThan(2);
  expect(most()).toBeLessThanOrEqual(MAX_REQUESTS);
});
