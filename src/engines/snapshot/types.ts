import type { Chunk, CodeSymbol } from "../parsing/types.ts";

/** A chunk with its vector: IEEE half floats, little-endian, `2 * dimension` bytes; undefined if there is none. */
export interface EmbeddedChunk extends Chunk {
  vector: Uint8Array | undefined;
}

/** A place where a file uses a name, or imports a module, in the form that other tools can read. */
export interface SnapshotUse {
  /** `import`, or a kind of use: `call`, `construct`, `inherit`, `decorator`, `reference`. */
  kind: string;
  /** As it is written there; of an import the imported name, `*` for the whole module. */
  name: string;
  /** 1-based. */
  line: number;
  /** Names of the functions and classes around it, joined by dots. */
  enclosing: string | null;
  /** What the file says of the name, as `describeMeaning` writes it; of an import its module. Null if the file says nothing. */
  meaning: string | null;
}

export interface SnapshotFile {
  path: string;
  /** SHA-256 (lower-case hex) of the file's bytes. */
  contentHash: string;
  language: string;
  sizeBytes: number;
  lineCount: number;
  /** How it was parsed: syntax, partial, structure, plain or fallback:<reason>. */
  outcome: string;
  symbols: CodeSymbol[];
  chunks: EmbeddedChunk[];
  uses: SnapshotUse[];
  /** The record that `uses` were read from (`engines/relations/record.ts`), for the search segments. Rows do not give it back. */
  usesRecord?: Uint8Array | undefined;
}

/** What determines the bytes of a snapshot besides its files. Says nothing about who built it, where or when. */
export interface SnapshotIdentity {
  /** Full commit SHA. */
  gitSha: string;
  /** Embedding space of the vectors. */
  fingerprint: string;
  dimension: number;
  /** Version of the parser that cut symbols and chunks. */
  parserVersion: number;
}

/** The header as stored in the artifact. */
export interface SnapshotHeader extends SnapshotIdentity {
  formatVersion: number;
  /** Encoding of a vector's components. */
  vectorType: "float16";
  fileCount: number;
  symbolCount: number;
  chunkCount: number;
  /** 0 in versions before 4, which have no uses. */
  useCount: number;
  vectorCount: number;
}

export interface SnapshotSource {
  header: SnapshotIdentity;
  /** Every file, once, in the order of {@link comparePaths}. */
  files(): AsyncIterable<SnapshotFile>;
}

/** Random access to an artifact: a file, an object in a bucket, or bytes in memory. */
export interface SnapshotBytes {
  byteLength: number;
  /** Exactly the bytes `start` to `end` (exclusive). */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** A part of an artifact: the bytes `start` to `end` (exclusive). */
export interface Extent {
  start: number;
  end: number;
}

/** The artifact is damaged, truncated, malicious, or of an unknown format version. It must not be used. */
export class SnapshotFormatError extends Error {
  override readonly name = "SnapshotFormatError";
}

/** Order of files in a snapshot: by the bytes of the path in UTF-8. */
export { compareUtf8 as comparePaths } from "../search/order.ts";
