/// <reference types="@cloudflare/vitest-plugin/types" />
import { env } from "cloudflare:workers";
import { openDb } from "../../../src/db/client.ts";
import { credentials, tenants } from "../../../src/db/schema.ts";
import type { AdmitRequest, CredentialKind, PresentedCredential } from "../../../src/gate/types.ts";
import { createCredential, parseCredential } from "../../../src/tenancy/credentials.ts";

export const db = openDb(env.DATABASE_URL);

export interface TestTenant {
  tenantId: string;
  credential: PresentedCredential;
  /** An admit request of this tenant for a metered call. */
  request: (estimateCredits?: number) => AdmitRequest;
}

/** A tenant with one API key. */
export async function createTenant(monthlyCredits = 10_000): Promise<TestTenant> {
  const tenantId = crypto.randomUUID();
  await db.insert(tenants).values({ id: tenantId, name: "test", monthlyCredits });
  const credential = await addCredential(tenantId);
  return {
    tenantId,
    credential,
    request: (estimateCredits) => ({
      credential,
      surface: "metered",
      ...(estimateCredits === undefined ? {} : { estimateCredits }),
    }),
  };
}

/** Adds a credential to a tenant. */
export async function addCredential(tenantId: string, kind: CredentialKind = "api_key"): Promise<PresentedCredential> {
  const { id, secretHash } = createCredential(kind, tenantId);
  await db.insert(credentials).values({ id, tenantId, kind, name: "test", secretHash });
  return { kind, id, secretHash: Buffer.from(secretHash).toString("hex") };
}

/** A well-formed credential that the database does not have. */
export function unknownCredential(tenantId: string): PresentedCredential {
  const parsed = parseCredential(createCredential("api_key", tenantId).value, "api_key");
  if (!parsed) throw new Error("createCredential and parseCredential disagree");
  return { kind: parsed.kind, id: parsed.id, secretHash: parsed.secretHashHex };
}
