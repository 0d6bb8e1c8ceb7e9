/** What exact search must know of a file's bytes before any pattern is asked for. It depends on the bytes alone. */
import { detectLanguage } from "../parsing/detect.ts";
import { findWithheld } from "../parsing/secrets/find-withheld.ts";
import { blankLines, type LineRange } from "../parsing/secrets/lines.ts";
import { contentSkipReason, isText } from "../parsing/skip.ts";
import { asUtf8 } from "../parsing/utf16.ts";
import { type FilterPart, ngramFilter } from "./ngram-filter.ts";

export interface InspectedText {
  /** Why the bytes are not ranked (`generated`, `minified`, `utf16`), or not searched (`binary`, `lfs`); undefined if they are both. */
  reason: "binary" | "lfs" | "generated" | "minified" | "utf16" | undefined;
  /** Language that the `#!` line names; null if none does. */
  script: string | null;
  /** Lines that may hold a secret. As with what follows, of UTF-16 those of its text as UTF-8. */
  withheld: LineRange[];
  /** Of the text without these lines. Empty where nothing is searched. */
  filter: FilterPart;
}

/** Inspects the bytes of a file. */
export function inspectText(bytes: Uint8Array): InspectedText {
  const reason = contentSkipReason(bytes);
  if (!isText(reason)) return { reason, script: null, withheld: [], filter: partOf(NO_BYTES) };
  const text = asUtf8(bytes);
  const withheld = findWithheld(text);
  const script = detectLanguage("", text) ?? null;
  return { reason, script, withheld, filter: partOf(ngramFilter(blankLines(text, withheld))) };
}

const NO_BYTES = new Uint8Array();
const partOf = (bytes: Uint8Array): FilterPart => ({ bytes, start: 0, length: bytes.length });
