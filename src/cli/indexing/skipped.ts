import { contentLanguage } from "../../engines/parsing/detect.ts";
import { contentSkipReason } from "../../engines/parsing/skip.ts";
import { sha256 } from "../machine/checksum.ts";
import type { ChangedFile, ReadFile } from "./scan.ts";
import type { IndexStore, NewContent } from "./store.ts";

/** The row of a content that is not parsed. */
export function skippedContent(
  content: Pick<NewContent, "sha256" | "language" | "sizeBytes">,
  skip: string,
): NewContent {
  return { ...content, lineCount: 0, outcome: "skipped", skip, packed: null };
}

/**
 * Returns the files whose contents are worth parsing. Records the others right away and adds their ids to `read`, so that no parser
 * starts for them.
 */
export function withoutSkipped(
  store: IndexStore,
  files: readonly ChangedFile[],
  read: Map<string, ReadFile>,
  bytesOf: (path: string) => Uint8Array | undefined,
): ChangedFile[] {
  const rest = files.filter(({ path, language, stat }) => {
    const bytes = bytesOf(path);
    const skip = bytes && contentSkipReason(bytes);
    if (!bytes || skip === undefined) return true;
    const content = {
      sha256: sha256(bytes),
      language: contentLanguage(language, bytes),
      sizeBytes: bytes.byteLength,
    };
    const known = store.findContent(content.sha256, content.language);
    store.begin();
    read.set(path, { contentId: known ?? store.addContent(skippedContent(content, skip)), stat });
    return false;
  });
  store.commit();
  return rest;
}
