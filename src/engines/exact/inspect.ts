/** What exact search must know of a file's bytes before any pattern is asked for. It depends on the bytes alone. */
import { detectLanguage } from "../parsing/detect.ts";
import { findWithheld } from "../parsing/secrets/find-withheld.ts";
import { blankLines, type LineRange } from "../parsing/secrets/lines.ts";
import { contentSkipReason } from "../parsing/skip.ts";
import { ngramFilter } from "./ngram-filter.ts";

export interface InspectedText {
  /** Why the bytes are not ranked (`generated`, `minified`), or not searched (`binary`, `lfs`); undefined if they are both. */
  reason: "binary" | "lfs" | "generated" | "minified" | undefined;
  /** Language that the `#!` line names; null if none does. */
  script: string | null;
  /** Lines that may hold a secret. */
  withheld: LineRange[];
  /** Of the text without these lines. Empty where nothing is searched. */
  filter: Uint8Array;
}

/** Inspects the bytes of a file. */
export function inspectText(bytes: Uint8Array): InspectedText {
  const reason = contentSkipReason(bytes);
  if (reason === "binary" || reason === "lfs") return { reason, script: null, withheld: [], filter: new Uint8Array() };
  const withheld = findWithheld(bytes);
  const script = detectLanguage("", bytes) ?? null;
  return { reason, script, withheld, filter: ngramFilter(blankLines(bytes, withheld)) };
}
