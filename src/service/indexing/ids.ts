import { createHash } from "node:crypto";
import type { IndexOptions } from "../../contract/index.ts";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import { bytesToUuid } from "../../lib/uuid.ts";
import { SELECTION_VERSION } from "./select.ts";

/**
 * Name-based id of a content: concurrent writers of the same bytes write the same row without a look-up.
 */
export function contentId(tenantId: string, sha256: string, language: string): string {
  const name = `${tenantId}\n${sha256}\n${language}\n${PARSER_VERSION}`;
  return bytesToUuid(createHash("sha256").update(name).digest());
}

/** SHA-256 in hex. */
export function sha256Hex(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Hash of everything except the commit that affects what a run indexes. Revisions with equal keys can be compared by tree. */
export function planKey(options: IndexOptions): string {
  const { include, exclude, maxFileSizeBytes } = options;
  return sha256Hex(
    new TextEncoder().encode(
      JSON.stringify([
        SELECTION_VERSION,
        PARSER_VERSION,
        include ? [...include].sort() : null,
        [...(exclude ?? [])].sort(),
        maxFileSizeBytes,
      ]),
    ),
  );
}
