import { customType, timestamp } from "drizzle-orm/pg-core";

/** `created_at`, set by the database. */
export const createdAt = () => timestamp("created_at", { withTimezone: true }).notNull().defaultNow();

/**
 * `bytea` as `Uint8Array`. Neon's HTTP driver represents bytea as `\x…` hex text in both directions.
 */
export const bytea = customType<{ data: Uint8Array; driverData: string }>({
  dataType: () => "bytea",
  toDriver: (value) => `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`,
  fromDriver: (value) => parseBytea(value),
});

/** Text sorted by bytes, independent of the database's locale: the order of paths in git, listings and snapshots. */
export const byteText = customType<{ data: string }>({ dataType: () => 'text collate "C"' });

/** Decodes PostgreSQL's hex form of a bytea (`\x0aff`). Throws `TypeError` on anything else. */
function parseBytea(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === "string" && value.startsWith("\\x")) return new Uint8Array(Buffer.from(value.slice(2), "hex"));
  throw new TypeError("expected a bytea in hex form");
}
