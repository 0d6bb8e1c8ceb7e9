import { env } from "cloudflare:workers";
import type { SourceGate } from "../../../src/gate/source-gate.ts";
import type { TenantGate } from "../../../src/gate/tenant-gate.ts";

const gates = env.TENANT_GATE;
const sources = env.SOURCE_GATE;

export function gateOf(tenantId: string): DurableObjectStub<TenantGate> {
  return gates.get(gates.idFromName(tenantId));
}

export function sourceGate(name: string): DurableObjectStub<SourceGate> {
  return sources.get(sources.idFromName(name));
}
