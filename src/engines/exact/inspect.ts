/** What exact search must know of a file's bytes before any pattern is asked for. It depends on the bytes alone. */
import { detectLanguage } from "../parsing/detect.ts";
import { findWithheld } from "../parsing/secrets/find-withheld.ts";
import { blankLines, type LineRange } from "../parsing/secrets/lines.ts";
import { contentSkipReason } from "../parsing/skip.ts";
import { type FilterPart, ngramFilter } from "./ngram-filter.ts";

export interface InspectedText {
  /** Why the bytes are not ranked (`generated`, `minified`), or not searched (`binary`, `lfs`); undefined if they are both. */
  reason: "binary" | "lfs" | "generated" | "minified" | undefined;
  /** Language that the `#!` line names; null if none does. */
  script: string | null;
  /** Lines that may hold a secret. */
  withheld: LineRange[];
  /** Of the text without these lines. Empty where nothing is searched. */
  filter: FilterPart;
}

/** Inspects the bytes of a file. */
export function inspectText(bytes: Uint8Array): InspectedText {
  const reason = contentSkipReason(bytes);
  if (reason === "binary" || reason === "lfs") return { reason, script: null, withheld: [], filter: partOf(NO_BYTES) };
  const withheld = findWithheld(bytes);
  const script = detectLanguage("", bytes) ?? null;
  return { reason, script, withheld, filter: partOf(ngramFilter(blankLines(bytes, withheld))) };
}

const NO_BYTES = new Uint8Array();
const partOf = (bytes: Uint8Array): FilterPart => ({ bytes, start: 0, length: bytes.length });
