/** The uses of contents whose segment is made again: read from the whole texts, since the database has none. */
import type { CodeParser } from "../../engines/parsing/parser.ts";
import { hasUses, type LanguageWithUses } from "../../engines/relations/languages.ts";
import { type ContentKey, SearchFormatError } from "../../engines/search/types.ts";
import { TextPack } from "../../engines/texts/pack.ts";
import { pages } from "../../lib/pages.ts";
import type { Db } from "../db/client.ts";
import { openObject, RangeCache } from "./read.ts";
import type { SearchBucket } from "./store.ts";
import { findTexts, type TextRow } from "./whole-texts/rows.ts";
import { packKey } from "./whole-texts/store.ts";

/** Of one pack that is read: the blocks under way, and what opening it has read. */
const CACHE_BYTES = 1024 * 1024;
/** Texts that are read together. */
const TEXTS_AT_ONCE = 50;

export interface UsesSource {
  db: Db;
  bucket: SearchBucket;
  parser: () => Promise<CodeParser>;
  /** Called after each piece of work. */
  beat: () => Promise<void>;
}

/**
 * Records of the contents' uses by `<SHA-256> <language>`. A content whose text is not stored, or is in a damaged pack, has none: an answer
 * counts it as not read.
 */
export async function usesOfContents(
  source: UsesSource,
  tenantId: string,
  contents: readonly ContentKey[],
): Promise<Map<string, Uint8Array>> {
  const records = new Map<string, Uint8Array>();
  const wanted = contents.filter(({ language }) => hasUses(language));
  if (wanted.length === 0) return records;
  const languages = Map.groupBy(wanted, ({ sha256 }) => sha256);
  const rows = await findTexts(source.db, tenantId, [...languages.keys()]);
  for (const [pack, own] of Map.groupBy(rows.values(), (row) => row.pack))
    for await (const { sha256, bytes } of textsOf(source, tenantId, pack, own))
      for (const { language } of languages.get(sha256) ?? []) {
        const parser = await source.parser();
        const { uses } = await parser.parse({ bytes, language: language as LanguageWithUses });
        if (uses) records.set(`${sha256} ${language}`, uses);
      }
  return records;
}

async function* textsOf(
  { bucket, beat }: UsesSource,
  tenantId: string,
  id: string,
  rows: readonly TextRow[],
): AsyncGenerator<{ sha256: string; bytes: Uint8Array }> {
  try {
    const cache = new RangeCache(CACHE_BYTES);
    const pack = await TextPack.open(await openObject(bucket, packKey(tenantId, id), { cache }));
    const ordinals = rows.map(({ ordinal }) => ordinal).toSorted((a, b) => a - b);
    for (const page of pages(ordinals, TEXTS_AT_ONCE)) {
      yield* await pack.readAll(page);
      await beat();
    }
  } catch (error) {
    // A request for the pack's texts repairs it.
    if (!(error instanceof SearchFormatError) && !(error instanceof RangeError)) throw error;
  }
}
