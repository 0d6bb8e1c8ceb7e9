/**
 * The search index of an artifact: segments (src/engines/search) over the contents of the snapshot's files, so that a client can search
 * right after a pull. They are stored between row groups, which Parquet readers ignore, and located by an entry of the footer's
 * key-value metadata.
 */
import { analyzeContent } from "../search/analyze.ts";
import { buildSegment } from "../search/segment-writer.ts";
import type { SnapshotFile } from "./types.ts";

/**
 * A segment is written once its analyses reach this size, about 8,000 chunks. Building it takes about eight times as much memory,
 * and a Worker has 128 MB.
 */
const MAX_ANALYSIS_BYTES = 4 * 1024 * 1024;

/** Divides the contents of files into segments. The same files give the same segments on every platform. */
export class SegmentCutter {
  readonly #seen = new Set<string>();
  #analyses: Uint8Array[] = [];
  #byteLength = 0;

  /** Adds the content of the next file, unless an earlier file had the same. */
  add({ contentHash, language, symbols, chunks, usesRecord: uses }: SnapshotFile): void {
    const key = `${contentHash} ${language}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const analysis = analyzeContent({ sha256: contentHash, language, symbols, chunks, uses });
    this.#analyses.push(analysis);
    this.#byteLength += analysis.length;
  }

  /** Whether enough is collected for a segment. */
  get full(): boolean {
    return this.#byteLength >= MAX_ANALYSIS_BYTES;
  }

  /** A segment over what was added since the last call; undefined if that is nothing. */
  cut(): Uint8Array | undefined {
    if (this.#analyses.length === 0) return undefined;
    const segment = buildSegment(this.#analyses);
    this.#analyses = [];
    this.#byteLength = 0;
    return segment;
  }
}
