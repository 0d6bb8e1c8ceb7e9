/// <reference types="@cloudflare/vitest-plugin/types" />
import { env } from "cloudflare:workers";
import { openDb } from "../../../src/service/db/client.ts";
import { credentials } from "../../../src/service/db/credentials-schema.ts";
import { tenants } from "../../../src/service/db/schema.ts";
import type { AdmitRequest, CredentialKind, PresentedCredential } from "../../../src/service/gate/types.ts";
import { createCredential, deriveCredentialKey, parseCredential } from "../../../src/service/tenancy/credentials.ts";

export const db = openDb(env.DATABASE_URL);

/** How long test requests keep credits reserved. */
export const HOLD_MS = 90_000;

/** `ENCRYPTION_KEY` of the service under test, and the key of its credentials. */
export const ENCRYPTION_KEY = Buffer.alloc(32).toString("base64");
export const credentialKey = deriveCredentialKey(ENCRYPTION_KEY);

export interface TestTenant {
  tenantId: string;
  credential: PresentedCredential;
  /** An admit request of this tenant for a metered call. */
  request: (credits?: number) => Omit<AdmitRequest, "tenantId">;
}

/** A tenant with one API key. */
export async function createTenant(monthlyCredits = 10_000): Promise<TestTenant> {
  const tenantId = crypto.randomUUID();
  await db.insert(tenants).values({ id: tenantId, name: "test", monthlyCredits });
  const credential = await addCredential(tenantId);
  return {
    tenantId,
    credential,
    request: (credits) => ({
      credential,
      surface: "metered",
      ...(credits !== undefined && { reserve: { credits, holdMs: HOLD_MS } }),
    }),
  };
}

/** Adds a credential to a tenant. */
export async function addCredential(tenantId: string, kind: CredentialKind = "api_key"): Promise<PresentedCredential> {
  const { id, secretHash } = createCredential(kind, tenantId, credentialKey);
  await db.insert(credentials).values({ id, tenantId, kind, name: "test", secretHash });
  return { kind, id, secretHash: Buffer.from(secretHash).toString("hex") };
}

/** A well-formed credential that the database does not have. */
export function unknownCredential(tenantId: string): PresentedCredential {
  const parsed = parseCredential(createCredential("api_key", tenantId, credentialKey).value, "api_key", credentialKey);
  if (!parsed) throw new Error("createCredential and parseCredential disagree");
  return { kind: parsed.kind, id: parsed.id, secretHash: parsed.secretHash };
}
