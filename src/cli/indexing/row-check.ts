import type { DatabaseSync } from "node:sqlite";

type Value = string | number | bigint | null | Uint8Array;

const zlib = () => process.getBuiltinModule("node:zlib");

/** CRC-32 of a row's values, which detects flipped bits; SQLite only detects damage to its structure. */
export function rowCheck(...values: readonly Value[]): number {
  const { crc32 } = zlib();
  let sum = 0;
  let text = "";
  for (const value of values) {
    if (value instanceof Uint8Array) sum = crc32(value, sum);
    else text += `${String(value)}\0`;
  }
  return crc32(text, sum);
}

/** Registers {@link rowCheck} with a connection; the tables compute `row_sum` with it. */
export function addRowCheck(db: DatabaseSync): void {
  db.function("row_check", { deterministic: true, varargs: true }, rowCheck);
}
