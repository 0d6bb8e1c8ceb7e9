import { Buffer } from "node:buffer";
import { unusableAnswer } from "./errors.ts";
import { isRecord } from "../../lib/shape.ts";
import type { RerankRow } from "./types.ts";

/** Reads vectors and scores from upstream answers. Malformed answers throw `UPSTREAM_ERROR`; nothing is repaired. */

const MAX_DIMENSION = 16_384;
const BYTES_PER_FLOAT32 = 4;

/** A vector given as an array of numbers or as base64 of little-endian float32; every component finite. */
export function readVector(value: unknown): Float32Array {
  const vector = typeof value === "string" ? fromBase64(value) : fromNumbers(value);
  if (vector.length === 0 || vector.length > MAX_DIMENSION)
    throw unusableAnswer(`vector of ${vector.length} components`);
  for (let i = 0; i < vector.length; i++) {
    // Rejects NaN, infinities, and numbers beyond float32.
    if (!Number.isFinite(vector[i])) throw unusableAnswer(`component ${i} of a vector is not a finite number`);
  }
  return vector;
}

function fromNumbers(value: unknown): Float32Array {
  if (!Array.isArray(value)) throw unusableAnswer(`a vector is neither an array nor base64`);
  const vector = new Float32Array(value.length);
  for (let i = 0; i < value.length; i++) {
    const component: unknown = value[i];
    if (typeof component !== "number") throw unusableAnswer(`component ${i} of a vector is not a number`);
    vector[i] = component;
  }
  return vector;
}

function fromBase64(value: string): Float32Array {
  const bytes = Buffer.from(value, "base64");
  // Buffer skips characters that are not base64, so compare the length.
  const expectedBytes = Math.floor((value.replace(/={1,2}$/, "").length * 3) / 4);
  if (bytes.length !== expectedBytes || bytes.length % BYTES_PER_FLOAT32 !== 0) {
    throw unusableAnswer(`a vector is not base64 of whole float32 values`);
  }
  // All supported platforms are little-endian; copy only if unaligned.
  const { buffer, byteOffset } = bytes.byteOffset % BYTES_PER_FLOAT32 === 0 ? bytes : new Uint8Array(bytes);
  return new Float32Array(buffer, byteOffset, bytes.length / BYTES_PER_FLOAT32);
}

/** Sorts `rows` by index. Each of 0 … count-1 must occur exactly once. */
function inIndexOrder<T>(rows: readonly { index: number; value: T }[], count: number): T[] {
  const ordered: T[] = [];
  const seen = new Uint8Array(count);
  if (rows.length !== count) throw unusableAnswer(`${rows.length} items for ${count} inputs`);
  for (const { index, value } of rows) {
    if (!Number.isInteger(index) || index < 0 || index >= count) throw unusableAnswer(`index ${index} of ${count}`);
    if (seen[index] === 1) throw unusableAnswer(`index ${index} twice`);
    seen[index] = 1;
    ordered[index] = value;
  }
  return ordered;
}

/** Reads `{data: [{index, embedding}]}`, the format of OpenAI, Voyage and Jina, in input order. */
export function readIndexedEmbeddings(answer: unknown, count: number): Float32Array[] {
  const rows = readRows(answer, "data").map((row) => ({ index: readNumber(row, "index"), value: row["embedding"] }));
  return inIndexOrder(rows, count).map(readVector);
}

/** Reads `answer[field]` as an array of objects. */
export function readRows(answer: unknown, field: string): Record<string, unknown>[] {
  const rows = isRecord(answer) ? answer[field] : undefined;
  if (!Array.isArray(rows)) throw unusableAnswer(`answer has no array "${field}"`);
  return rows.map((row: unknown) => {
    if (!isRecord(row)) throw unusableAnswer(`"${field}" holds something that is not an object`);
    return row;
  });
}

function readNumber(row: Record<string, unknown>, field: string): number {
  const value = row[field];
  if (typeof value !== "number" || !Number.isFinite(value)) throw unusableAnswer(`"${field}" is not a finite number`);
  return value;
}

/** Reads score rows in their order; each of `count` documents must occur exactly once. */
export function readScores(
  rows: readonly Record<string, unknown>[],
  count: number,
  indexField: string,
  scoreField: string,
): RerankRow[] {
  const results = rows.map((row) => ({
    index: readNumber(row, indexField),
    relevanceScore: readNumber(row, scoreField),
  }));
  inIndexOrder(
    results.map((row) => ({ index: row.index, value: row })),
    count,
  );
  return results;
}

/** `answer[path[0]][path[1]]…`; `undefined` if a step is missing. */
export function dig(answer: unknown, ...path: string[]): unknown {
  let value = answer;
  for (const step of path) value = isRecord(value) ? value[step] : undefined;
  return value;
}
