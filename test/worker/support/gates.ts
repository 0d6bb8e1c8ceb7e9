import { env } from "cloudflare:workers";
import type { SourceGate } from "../../../src/gate/source-gate.ts";
import { admitAt } from "../../../src/gate/client.ts";
import type { TenantGate } from "../../../src/gate/tenant-gate.ts";
import type { AdmitRequest, AdmitResult } from "../../../src/gate/types.ts";

const gates = env.TENANT_GATE;
const sources = env.SOURCE_GATE;

export function gateOf(tenantId: string): DurableObjectStub<TenantGate> {
  return gates.get(gates.idFromName(tenantId));
}

/** Asks a tenant's gate to let a request in. */
export function admitTo(tenantId: string, request: AdmitRequest): Promise<AdmitResult> {
  return admitAt(gateOf(tenantId), tenantId, request);
}

export function sourceGate(name: string): DurableObjectStub<SourceGate> {
  return sources.get(sources.idFromName(name));
}
