import { sql, type SQL } from "drizzle-orm";

/** Bytes as a `bytea` parameter of a raw statement. */
export function bytesLiteral(bytes: Uint8Array): SQL {
  return sql`${`\\x${Buffer.from(bytes).toString("hex")}`}::bytea`;
}
