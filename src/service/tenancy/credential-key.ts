/**
 * The key that a deployment's credentials are created with. The api Worker derives it from `ENCRYPTION_KEY` at each start; the
 * database holds a copy, so that creating credentials needs access to the database only. A leaked key grants no access: see
 * `CredentialKey`.
 */
import { eq } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { serviceSettings } from "../db/schema.ts";
import { type CredentialKey, deriveCredentialKey } from "./credentials.ts";
import { TenancyError } from "./errors.ts";

const NAME = "credential_key";
const FIELD = "ENCRYPTION_KEY";

/** Saves the key derived from `ENCRYPTION_KEY`. Throws `TenancyError` if the deployment was set up with another one. */
export async function saveCredentialKey(db: Db, encryptionKey: string): Promise<CredentialKey> {
  const key = deriveCredentialKey(encryptionKey);
  await db.insert(serviceSettings).values({ name: NAME, value: key }).onConflictDoNothing();
  if ((await savedCredentialKey(db)) === key) return key;
  throw new TenancyError("CONFLICT", `${FIELD}: not the one this deployment was set up with`, FIELD);
}

/** Loads the saved key. Throws `TenancyError` if there is none. */
export async function loadCredentialKey(db: Db): Promise<CredentialKey> {
  const key = await savedCredentialKey(db);
  if (key !== undefined) return key;
  throw new TenancyError("INVALID", `${FIELD}: set it to that of the api Worker; it is needed this once`, FIELD);
}

/** The saved key; undefined if there is none. */
export async function savedCredentialKey(db: Db): Promise<CredentialKey | undefined> {
  const [row] = await db.select().from(serviceSettings).where(eq(serviceSettings.name, NAME));
  return row?.value as CredentialKey | undefined;
}
