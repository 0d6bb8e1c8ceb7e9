import { contentSkipReason } from "../../parsing/skip.ts";
import { sha256 } from "../checksum.ts";
import type { ChangedFile, KnownFile } from "./scan.ts";
import type { IndexStore, NewContent } from "./store.ts";

/** The row of a content that is not worth parsing. */
export function skippedContent(
  content: Pick<NewContent, "sha256" | "language" | "sizeBytes">,
  skip: string,
): NewContent {
  return { ...content, lineCount: 0, outcome: "skipped", skip, symbols: [], chunks: [] };
}

/**
 * The files whose contents are worth parsing. Of the others, which snapshots do not have, the contents are noted and their
 * ids added to `read`, here and now: a parser need not start for them.
 */
export function withoutSkipped(
  store: IndexStore,
  files: readonly ChangedFile[],
  read: Map<string, KnownFile>,
  bytesOf: (path: string) => Uint8Array | undefined,
): ChangedFile[] {
  const rest = files.filter(({ path, language, stat }) => {
    const bytes = bytesOf(path);
    const skip = bytes && contentSkipReason(bytes, language);
    if (!bytes || skip === undefined) return true;
    const content = { sha256: sha256(bytes), language, sizeBytes: bytes.byteLength };
    const known = store.findContent(content.sha256, language);
    store.begin();
    read.set(path, { contentId: known ?? store.addContent(skippedContent(content, skip)), stat });
    return false;
  });
  store.commit();
  return rest;
}
