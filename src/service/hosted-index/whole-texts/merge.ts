/** Merges small packs of a revision, so that a question about all files reads few objects. */
import { countLines } from "../../../engines/parsing/secrets/lines.ts";
import { type ListedFile, type TextPlace } from "../../../engines/texts/file-list.ts";
import { TextPack } from "../../../engines/texts/pack.ts";
import { SearchFormatError } from "../../../engines/search/types.ts";
import { planMerges } from "../merge-plan.ts";
import { openObject, RangeCache } from "../read.ts";
import { NewPack, type TextWriter } from "./put-pack.ts";
import { type PackedText, writeTexts } from "./rows.ts";
import { packKey } from "./store.ts";

/** What counts as a chunk when merges are planned: about as many bytes of text as a chunk has. */
const BYTES_PER_CHUNK = 1_000;
/** Of one pack: what opening it has read, and the block that is being copied. */
const CACHE_BYTES = 1024 * 1024;

/**
 * Replaces groups of packs by one each, with the texts that the files use, and changes the files' places. Rewrites about as much as the
 * run has stored itself (`freshBytes`). Packs that cannot be read stay as they are: readers find out, and have them repaired.
 */
export async function mergePacks(
  writer: TextWriter,
  tenantId: string,
  files: readonly ListedFile[],
  freshBytes: number,
): Promise<void> {
  const live = new Map<string, Map<number, { bytes: number; files: ListedFile[] }>>();
  for (const file of files) {
    if (!file.text) continue;
    const texts = live.get(file.text.pack) ?? new Map<number, { bytes: number; files: ListedFile[] }>();
    live.set(file.text.pack, texts);
    const text = texts.get(file.text.ordinal) ?? { bytes: file.size ?? 0, files: [] };
    texts.set(file.text.ordinal, text);
    text.files.push(file);
  }
  const sizes = [...live].map(([id, texts]) => {
    const liveBytes = [...texts.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    return { id, liveBytes, liveChunks: Math.ceil(liveBytes / BYTES_PER_CHUNK) };
  });
  for (const group of planMerges(sizes, Math.ceil(freshBytes / BYTES_PER_CHUNK))) {
    const merged = new NewPack();
    const rows: PackedText[] = [];
    const moved: { files: ListedFile[]; ordinal: number }[] = [];
    for (const id of group) {
      const texts = [...(live.get(id) ?? [])].toSorted(([a], [b]) => a - b);
      const read = await readTexts(
        writer,
        tenantId,
        id,
        texts.map(([ordinal]) => ordinal),
      );
      for (const [at, text] of (read ?? []).entries()) {
        const [, own] = texts[at] as (typeof texts)[number];
        const ordinal = merged.add(text);
        rows.push({
          sha256: text.sha256,
          ordinal,
          sizeBytes: own.bytes,
          withheldLines: countLines(text.withheld),
        });
        moved.push({ files: own.files, ordinal });
      }
      await writer.beat();
    }
    if (merged.count === 0) continue;
    const pack = await merged.put(writer, tenantId);
    await writeTexts(writer.db, tenantId, pack, rows);
    for (const { files: own, ordinal } of moved)
      for (const file of own) file.text = { pack, ordinal } satisfies TextPlace;
  }
}

/** Texts of a pack, in the order of their ordinals; undefined if the pack cannot be read. */
async function readTexts(writer: TextWriter, tenantId: string, id: string, ordinals: readonly number[]) {
  try {
    const cache = new RangeCache(CACHE_BYTES);
    const pack = await TextPack.open(await openObject(writer.bucket, packKey(tenantId, id), { cache }));
    return await pack.readAll(ordinals);
  } catch (error) {
    if (error instanceof SearchFormatError || error instanceof RangeError) return undefined;
    throw error;
  }
}
