import { env } from "cloudflare:workers";
import type { RateBucket } from "../../../src/service/gate/rate-bucket.ts";
import type { TenantGate } from "../../../src/service/gate/tenant-gate.ts";
import type { AdmitRequest, AdmitResult } from "../../../src/service/gate/types.ts";

const gates = env.TENANT_GATE;
const buckets = env.RATE_BUCKETS;

export function gateOf(tenantId: string): DurableObjectStub<TenantGate> {
  return gates.get(gates.idFromName(tenantId));
}

/** Asks a tenant's gate to admit a request. */
export function admitTo(tenantId: string, request: Omit<AdmitRequest, "tenantId">): Promise<AdmitResult> {
  return gateOf(tenantId).admit({ tenantId, ...request });
}

export function rateBucket(name: string): DurableObjectStub<RateBucket> {
  return buckets.get(buckets.idFromName(name));
}
