/** The uses of stored contents: from their segments, or read again from the whole texts, since the database has none. */
import type { CodeParser } from "../../engines/parsing/parser.ts";
import { hasUses, type LanguageWithUses } from "../../engines/relations/languages.ts";
import { Segment } from "../../engines/search/segment.ts";
import { type ContentKey, SearchFormatError } from "../../engines/search/types.ts";
import { TextPack } from "../../engines/texts/pack.ts";
import { pages } from "../../lib/pages.ts";
import type { Db } from "../db/client.ts";
import { openObject, RangeCache } from "./read.ts";
import { type SearchBucket, SEGMENT_ID_PREFIX, segmentKey } from "./store.ts";
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

/** A content, and the segment that its row names. */
export interface PlacedContent extends ContentKey {
  segment: string | null;
}

/** Key of a content in a map of records. */
export const usesKey = ({ sha256, language }: ContentKey): string => `${sha256} ${language}`;

/** Reads the uses of many contents of a tenant, page by page. Segments stay open in between. */
export class StoredUses {
  readonly #source: UsesSource;
  readonly #tenantId: string;
  readonly #cache = new RangeCache(CACHE_BYTES);
  readonly #segments = new Map<string, Segment | undefined>();

  constructor(source: UsesSource, tenantId: string) {
    this.#source = source;
    this.#tenantId = tenantId;
  }

  /** Records by `usesKey`; from the texts where a segment is missing, damaged or of another version. */
  async read(contents: readonly PlacedContent[]): Promise<Map<string, Uint8Array>> {
    const records = new Map<string, Uint8Array>();
    const others: ContentKey[] = [];
    for (const [id, own] of Map.groupBy(contents, ({ segment }) => segment)) {
      const found = id === null ? undefined : await this.#fromSegment(id, own);
      if (found === undefined) for (const content of own) others.push(content);
      else for (const [i, content] of own.entries()) records.set(usesKey(content), found[i] as Uint8Array);
    }
    for (const [key, record] of await usesOfContents(this.#source, this.#tenantId, others)) records.set(key, record);
    return records;
  }

  async #fromSegment(id: string, contents: readonly ContentKey[]): Promise<Uint8Array[] | undefined> {
    if (!id.startsWith(SEGMENT_ID_PREFIX)) return undefined;
    try {
      if (!this.#segments.has(id)) this.#segments.set(id, await this.#open(id));
      const segment = this.#segments.get(id);
      const ordinals = contents.map((content) => segment?.find(content) ?? -1);
      return ordinals.includes(-1) ? undefined : await segment?.readUses(ordinals);
    } catch (error) {
      if (!(error instanceof SearchFormatError)) throw error;
      this.#segments.set(id, undefined);
      return undefined;
    }
  }

  async #open(id: string): Promise<Segment> {
    return Segment.open(await openObject(this.#source.bucket, segmentKey(this.#tenantId, id), { cache: this.#cache }));
  }
}

/**
 * Records of the contents' uses by {@link usesKey}. A content whose text is not stored, or is in a damaged pack, has none: an answer
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
        if (uses) records.set(usesKey({ sha256, language }), uses);
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
