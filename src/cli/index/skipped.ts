import type { LanguageId } from "../../parsing/languages.ts";
import { contentSkipReason } from "../../parsing/skip.ts";
import { sha256 } from "../checksum.ts";
import type { IndexStore, NewContent } from "./store.ts";

/** The row of a content that is not worth parsing. */
export function skippedContent(
  content: Pick<NewContent, "sha256" | "language" | "sizeBytes">,
  skip: string,
): NewContent {
  return { ...content, lineCount: 0, outcome: "skipped", skip, symbols: [], chunks: [] };
}

/**
 * Notes contents that are not worth parsing; snapshots do not have them. Done here and now, a parser need not start for them.
 * Returns the id of each such content in `files`, by path.
 */
export function noteSkipped(
  store: IndexStore,
  files: readonly { path: string; language: LanguageId }[],
  read: (path: string) => Uint8Array | undefined,
): Map<string, number> {
  const ids = new Map<string, number>();
  for (const { path, language } of files) {
    const bytes = read(path);
    const skip = bytes && contentSkipReason(bytes, language);
    if (!bytes || skip === undefined) continue;
    const content = { sha256: sha256(bytes), language, sizeBytes: bytes.byteLength };
    const known = store.findContent(content.sha256, language);
    store.begin();
    ids.set(path, known ?? store.addContent(skippedContent(content, skip)));
  }
  store.commit();
  return ids;
}
