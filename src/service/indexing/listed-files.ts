/** What a plan says about each file that it has looked at, for the revision's file list. */
import { detectLanguage } from "../../engines/parsing/detect.ts";
import type { ListChanges, PlannedFile } from "../hosted-index/whole-texts/writer.ts";
import type { BlobSink } from "./blob-sink.ts";
import type { Listing, OtherFile } from "./listing.ts";

/** A file of the list, or a path that the tree no longer has. */
export type ListedItem = { listed: PlannedFile } | { gone: string };

/** Reason of a text that the git host has not sent. */
const UNREADABLE = "unreadable";
/** Reason of files that the options of the run leave out. */
const EXCLUDED = "excluded";

/** All that differs from the list of the base, or the whole list without one. */
export function* toListed(listing: Listing, { blobs }: BlobSink): Generator<ListedItem> {
  for (const { path, oid, language: named } of listing.files) {
    const row = blobs.find(oid);
    const language = blobs.languageAt(row, named) ?? null;
    const textOnly = blobs.textOnlyAt(row) ?? (language === null ? "unknown_type" : undefined);
    yield { listed: { path, language, ...stored(blobs, row, textOnly ?? null) } };
  }
  for (const other of listing.others)
    yield { listed: { language: detectLanguage(other.path) ?? null, ...judged(blobs, other) } };
  for (const path of listing.gone) yield { gone: path };
}

function judged(blobs: BlobSink["blobs"], { path, oid, reason, isSearched }: OtherFile): Omit<PlannedFile, "language"> {
  if (isSearched) return { path, ...stored(blobs, blobs.find(oid), reason) };
  return {
    path,
    state: "not_searched",
    reason: reason === "not_included" ? EXCLUDED : reason,
    size: null,
    sha256: null,
  };
}

/** State of a file whose blob was wanted; `textOnly` says why it is not ranked. */
function stored(
  blobs: BlobSink["blobs"],
  row: number,
  textOnly: string | null,
): Omit<PlannedFile, "path" | "language"> {
  const sha256 = blobs.sha256At(row) ?? null;
  const size = blobs.sizeAt(row);
  if (sha256 === null) return { state: "not_searched", reason: blobs.skipAt(row) ?? UNREADABLE, size, sha256 };
  return { state: textOnly === null ? "indexed" : "searched", reason: textOnly, size, sha256 };
}

/** Sorts items of a page. */
export function listChanges(items: readonly ListedItem[]): ListChanges {
  return {
    puts: items.flatMap((item) => ("listed" in item ? [item.listed] : [])),
    gone: items.flatMap((item) => ("gone" in item ? [item.gone] : [])),
  };
}
