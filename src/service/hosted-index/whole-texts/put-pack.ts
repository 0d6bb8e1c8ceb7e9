import { encodeFilters } from "../../../engines/exact/filter-file.ts";
import { ngramFilter } from "../../../engines/exact/ngram-filter.ts";
import { PackBuilder, type StoredText, type TextPack } from "../../../engines/texts/pack.ts";
import { objectId, type SearchBucket } from "../store.ts";
import type { SearchWriter } from "../write.ts";
import { filtersKey, PACK_ID_PREFIX, packKey } from "./store.ts";

/** What is needed to write texts. */
export type TextWriter = Pick<SearchWriter, "db" | "bucket" | "beat">;

/** A pack that is being made, with the n-gram filters of its texts. */
export class NewPack {
  readonly #pack = new PackBuilder();
  readonly #filters: Uint8Array[] = [];

  get count(): number {
    return this.#filters.length;
  }

  /** Adds a text; its bytes must not change before `put`. Returns its ordinal. */
  add(text: StoredText): number {
    this.#filters.push(ngramFilter(text.bytes));
    return this.#pack.add(text);
  }

  /** Writes the pack and its filters. Returns the pack's id. */
  async put({ bucket, beat }: TextWriter, tenantId: string): Promise<string> {
    const bytes = this.#pack.finish();
    const id = objectId(PACK_ID_PREFIX, bytes);
    await bucket.put(packKey(tenantId, id), bytes);
    await bucket.put(filtersKey(tenantId, id), encodeFilters(this.#filters));
    await beat();
    return id;
  }
}

/** Writes the filters of a pack that has none: one of an earlier version. Throws `SearchFormatError` if the pack is damaged. */
export async function putFilters(bucket: SearchBucket, tenantId: string, id: string, pack: TextPack): Promise<void> {
  const filters: Uint8Array[] = [];
  const byBlock = Map.groupBy(pack.entries.keys(), (ordinal) => pack.entries[ordinal]?.block);
  for (const ordinals of byBlock.values())
    for (const { bytes } of await pack.readAll(ordinals)) filters.push(ngramFilter(bytes));
  await bucket.put(filtersKey(tenantId, id), encodeFilters(filters));
}
