import { brotliDecompressSync, constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Chunk, CodeSymbol } from "../../engines/parsing/types.ts";

/**
 * The symbols and chunks of a content as the index stores them: columns as JSON, compressed together. Signatures, docs and contexts repeat
 * what is in the texts of the chunks, so they take little room beside them. Numbers are differences to the number before, null where there
 * is none; true is 1.
 */
interface Columns {
  count: number;
  texts: (string | null)[][];
  numbers: (number | null)[][];
}

/** A chunk without what the index has in a row of its own. */
export type StoredChunk = Omit<Chunk, "hash">;

export interface UnpackedFile {
  symbols: CodeSymbol[];
  chunks: StoredChunk[];
}

/** What is stored of a parsed file besides its counters. */
export interface PackedFile {
  bytes: Uint8Array;
  symbolCount: number;
  /** In order. */
  chunks: Pick<Chunk, "hash" | "withheld">[];
}

const SYMBOL_TEXTS = ["kind", "name", "qualifiedName", "signature", "doc"] as const;
const SYMBOL_NUMBERS = ["parent", "startLine", "endLine", "startByte", "endByte"] as const;
const CHUNK_TEXTS = ["text", "context"] as const;
const CHUNK_NUMBERS = ["symbol", "startLine", "endLine", "startByte", "endByte", "withheld"] as const;

/** Zstandard's usual level. Brotli, as it was used before, takes three to six times as long for a tenth less room. */
const LEVEL = 3;
/** Room that is made for the compressed bytes at a time. */
const MAX_CHUNK_BYTES = 16 * 1024;
/** The first four bytes of a frame of Zstandard. */
const ZSTD_MAGIC = 0xfd_2f_b5_28;

/** Packs a parsed file's symbols and chunks for {@link unpackFile}. */
export function packFile(symbols: readonly CodeSymbol[], chunks: readonly Chunk[]): PackedFile {
  const columns = [columnsOf(symbols, SYMBOL_TEXTS, SYMBOL_NUMBERS), columnsOf(chunks, CHUNK_TEXTS, CHUNK_NUMBERS)];
  const json = Buffer.from(JSON.stringify(columns));
  // The sizes keep the compressor from preparing larger tables, and larger buffers, than a small file needs.
  const options = {
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
    pledgedSrcSize: json.length,
    chunkSize: Math.min(json.length, MAX_CHUNK_BYTES),
  };
  return {
    // A copy: a message between threads carries the whole buffer behind a view, 16 KB at least.
    bytes: new Uint8Array(zstdCompressSync(json, options)),
    symbolCount: symbols.length,
    chunks: chunks.map(({ hash, withheld }) => ({ hash, withheld })),
  };
}

/** Unpacks the bytes of {@link packFile}. They must be verified by their checksum first. */
export function unpackFile(bytes: Uint8Array): UnpackedFile {
  const [symbols, chunks] = JSON.parse(decompressed(bytes).toString()) as [Columns, Columns];
  const chunkRows = rowsOf(chunks, CHUNK_TEXTS, CHUNK_NUMBERS);
  for (const row of chunkRows) row["withheld"] = row["withheld"] === 1;
  return {
    symbols: rowsOf(symbols, SYMBOL_TEXTS, SYMBOL_NUMBERS) as unknown as CodeSymbol[],
    chunks: chunkRows as unknown as StoredChunk[],
  };
}

/** An index of version 6 of the tables has files that were packed with Brotli. */
const decompressed = (bytes: Uint8Array): Buffer =>
  isZstd(bytes) ? zstdDecompressSync(bytes) : brotliDecompressSync(bytes);

function isZstd({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
  return byteLength >= 4 && new DataView(buffer, byteOffset).getUint32(0, true) === ZSTD_MAGIC;
}

function columnsOf<T extends string, N extends string>(
  rows: readonly (Record<T, string | null> & Record<N, number | boolean | null>)[],
  texts: readonly T[],
  numbers: readonly N[],
): Columns {
  return {
    count: rows.length,
    texts: texts.map((key) => rows.map((row) => row[key])),
    numbers: numbers.map((key) => {
      let before = 0;
      return rows.map((row) => {
        if (row[key] === null) return null;
        const value = Number(row[key]);
        const difference = value - before;
        before = value;
        return difference;
      });
    }),
  };
}

function rowsOf(
  { count, texts, numbers }: Columns,
  textKeys: readonly string[],
  numberKeys: readonly string[],
): Record<string, string | number | boolean | null>[] {
  const last = numberKeys.map(() => 0);
  return Array.from({ length: count }, (_, row) => {
    const values: Record<string, string | number | boolean | null> = {};
    for (const [column, key] of textKeys.entries()) values[key] = texts[column]?.[row] ?? null;
    for (const [column, key] of numberKeys.entries()) {
      const difference = numbers[column]?.[row] ?? null;
      values[key] = difference === null ? null : (last[column] = (last[column] as number) + difference);
    }
    return values;
  });
}
