import { expect, it } from "vitest";
import { encodeFilters } from "../../../src/engines/exact/filter-file.ts";
import { ngramFilter } from "../../../src/engines/exact/ngram-filter.ts";
import { queryOfBytes } from "../../../src/engines/exact/ngrams.ts";
import { textName } from "../../../src/engines/texts/file-list.ts";
import { TextCache } from "../../../src/service/hosted-index/whole-texts/cache.ts";
import { HostedTexts } from "../../../src/service/hosted-index/whole-texts/hosted-texts.ts";
import { filtersKey } from "../../../src/service/hosted-index/whole-texts/store.ts";
import type { TextDeps } from "../../../src/service/hosted-index/whole-texts/text-files.ts";
import { seededNumbers } from "../../support/numbers.ts";
import { MemoryBucket } from "../../support/pipeline.ts";
import { readsAtOnce } from "../../support/reads-at-once.ts";

const TENANT = "tenant";
const PACKS = Array.from({ length: 10 }, (_, i) => `pack${i}`);

it("filters are read with one request each, and again only as far as the cache has no room for all", async () => {
  const bucket = new MemoryBucket();
  const next = seededNumbers(1);
  const text = Buffer.from(Array.from({ length: 200_000 }, () => 128 + next(128)));
  // Large enough that what was read of all is not kept as well.
  const filter = ngramFilter(text);
  const bytes = encodeFilters([filter, filter, filter]);
  for (const pack of PACKS) await bucket.put(filtersKey(TENANT, pack), bytes);
  let reads = 0;
  const get = bucket.get.bind(bucket);
  bucket.get = (...given) => (reads++, get(...given));
  const deps: Partial<TextDeps> = { bucket, texts: new TextCache({ filterBytes: 8 * bytes.length }) };
  const target = { tenantId: TENANT, workspaceId: "w", seq: 1, baseSeq: 0, textList: "list" };
  const texts = new HostedTexts(deps as TextDeps, [target]);
  const contents = PACKS.map((pack) => textName(pack, 0));
  const query = queryOfBytes(Buffer.from("another"));
  for (const expected of [10, 2, 2]) {
    reads = 0;
    const isCandidate = await texts.candidates(query, contents);
    expect(contents.filter((_, number) => isCandidate?.(number) !== false)).toEqual([]);
    expect(reads).toBe(expected);
  }
});

it("files of filters of less than a megabyte are read with one request each", async () => {
  const bucket = new MemoryBucket();
  const next = seededNumbers(2);
  const filter = ngramFilter(Buffer.from(Array.from({ length: 200_000 }, () => 128 + next(128))));
  const bytes = encodeFilters(Array.from({ length: Math.floor(1_000_000 / (filter.length + 4)) }, () => filter));
  expect(bytes.length).toBeGreaterThan(600_000);
  await bucket.put(filtersKey(TENANT, "pack"), bytes);
  let reads = 0;
  const get = bucket.get.bind(bucket);
  bucket.get = (...given) => (reads++, get(...given));
  const filters = await new TextCache().filters(bucket, TENANT, "pack");
  expect(filters?.mayHold(0, queryOfBytes(Buffer.from("another")))).toBe(false);
  expect(reads).toBe(1);
});

it("as many files of filters are read at once as a Worker has connections", async () => {
  const bucket = new MemoryBucket();
  const bytes = encodeFilters([ngramFilter(Buffer.from("some text"))]);
  for (const pack of PACKS) await bucket.put(filtersKey(TENANT, pack), bytes);
  const most = readsAtOnce(bucket);
  const deps: Partial<TextDeps> = { bucket, texts: new TextCache() };
  const target = { tenantId: TENANT, workspaceId: "w", seq: 1, baseSeq: 0, textList: "list" };
  const contents = PACKS.map((pack) => textName(pack, 0));
  await new HostedTexts(deps as TextDeps, [target]).candidates(queryOfBytes(Buffer.from("another")), contents);
  expect(most()).toBe(6);
});
