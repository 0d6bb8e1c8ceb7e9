import { customType } from "drizzle-orm/pg-core";

/**
 * `bytea` as `Uint8Array`. The Neon HTTP driver hands a bytea back as `\x…` hex text and takes the same form in,
 * so no binary framing is needed in either direction.
 */
export const bytea = customType<{ data: Uint8Array; driverData: string }>({
  dataType: () => "bytea",
  toDriver: (value) => `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`,
  fromDriver: (value) => parseBytea(value),
});

/** Text in byte order, whatever the database's locale: the order of paths in git, in listings and in snapshots. */
export const byteText = customType<{ data: string }>({ dataType: () => 'text collate "C"' });

/** Decodes Postgres' hex text form of a bytea (`\x0aff`). Throws `TypeError` on anything else. */
export function parseBytea(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === "string" && value.startsWith("\\x")) return new Uint8Array(Buffer.from(value.slice(2), "hex"));
  throw new TypeError("expected a bytea in hex form");
}
