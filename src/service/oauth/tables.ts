/** The tables of the Durable Objects that hold what the OAuth library keeps. The values are the library's own texts. */
import type { ObjectTables } from "../../lib/object-tables.ts";

export const OAUTH_TABLES: ObjectTables = {
  object: "OAuthObject",
  create: `
create table entries (
  key text primary key, value text not null, metadata text, expires_ms integer
) without rowid;
create index entries_expiry on entries (expires_ms) where expires_ms is not null;
`,
  upgrades: [],
  readableFrom: 1,
  unversioned: () => 0,
};
