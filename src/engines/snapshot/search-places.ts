/** The footer's entry that locates the search segments of an artifact. Separate from their writer, which readers do not load. */
import { isCount } from "../../lib/shape.ts";
import { MAX_PAGE_BYTES } from "./layout.ts";
import { type Extent, SnapshotFormatError } from "./types.ts";

/** Key of the JSON among the Parquet key-value metadata. */
export const SEARCH_KEY = "code_context_search";

/** One segment, compressed with gzip. */
interface SegmentPlace extends Extent {
  /** Decompressed size in bytes. */
  sizeBytes: number;
}

export interface SearchPlaces {
  /** Version of the segments' own format (`SEGMENT_VERSION`). Programs with another version ignore them. */
  segmentVersion: number;
  /** In the order of the file. */
  segments: SegmentPlace[];
}

/** Parses the entry's JSON. The caller checks the positions against the file. Throws {@link SnapshotFormatError}. */
export function parseSearchPlaces(text: string): SearchPlaces {
  const value = JSON.parse(text) as { segmentVersion?: unknown; segments?: unknown } | null;
  const { segmentVersion, segments } = value ?? {};
  if (!isCount(segmentVersion) || !Array.isArray(segments)) return fail();
  return { segmentVersion, segments: segments.map(parsePlace) };
}

function parsePlace(value: unknown): SegmentPlace {
  const { start, end, sizeBytes } = (value ?? {}) as Record<string, unknown>;
  if (!isCount(start) || !isCount(end) || end <= start || !isCount(sizeBytes) || sizeBytes > MAX_PAGE_BYTES)
    return fail();
  return { start, end, sizeBytes };
}

function fail(): never {
  throw new SnapshotFormatError("the places of the search segments are damaged");
}
