/** Rate budgets of people, addresses and tenants in the dashboard, held by Durable Objects of the api Worker. */
import { recordAudit } from "../../audit/record.ts";
import { SURFACES, type Surface } from "../../contract/surfaces.ts";
import type { Db } from "../../db/client.ts";
import { sourceName } from "../../gate/source.ts";
import type { SourceGateApi, TakeResult } from "../../gate/types.ts";
import type { Logger } from "../../log.ts";
import { withTimer } from "../../time-limit.ts";
import { actorOf } from "../../users/index.ts";
import type { DashboardEnv } from "./context.ts";

/** Whose bucket it is. */
export interface Subject {
  kind: "user" | "email" | "tenant" | "ip";
  id: string;
}

type DashboardSurface = Extract<
  Surface,
  "dashboard_read" | "dashboard_mutation" | "sign_in_email" | "invitation" | "sign_in_source"
>;

const TAKE_TIMEOUT_MS = 2_000;

/** Takes one request from a subject's bucket; undefined when the bucket cannot be reached. */
export async function take(
  env: DashboardEnv,
  subject: Subject,
  surface: DashboardSurface,
): Promise<TakeResult | undefined> {
  const name = await sourceName(env.ENCRYPTION_KEY, `${subject.kind}:${subject.id}`);
  const gate = env.SOURCE_GATE.get(env.SOURCE_GATE.idFromName(name)) as unknown as SourceGateApi;
  try {
    return await withTimer<TakeResult | undefined>(
      TAKE_TIMEOUT_MS,
      () => gate.take(surface),
      () => undefined,
    );
  } catch {
    return undefined;
  }
}

export interface Rejection {
  subject: Subject;
  surface: DashboardSurface;
  taken: TakeResult;
  tenantId: string | undefined;
  userId: string | undefined;
}

/** Rejections that this isolate has seen, by bucket and window; the log gets their number. */
const counts = new Map<string, number>();
const MAX_COUNTS = 10_000;

/**
 * Records a rejection in the tenant's audit log, or in the service's log where there is no tenant. One event a bucket and window; the
 * number of rejections in it is written when it doubles, so that a flood costs few writes.
 */
export async function auditRejection(db: Db, log: Logger, rejection: Rejection): Promise<void> {
  const { subject, surface, taken, tenantId, userId } = rejection;
  const windowEndMs = taken.rate.resetSec * 1_000;
  const windowStart = new Date(windowEndMs - SURFACES[surface].windowSec * 1_000).toISOString();
  const key = `${tenantId ?? ""}:${subject.kind}:${subject.id}:${surface}:${windowStart}`;
  if (counts.size > MAX_COUNTS) counts.clear();
  const rejected = (counts.get(key) ?? 0) + 1;
  counts.set(key, rejected);
  if ((rejected & (rejected - 1)) !== 0) return;
  if (tenantId === undefined || userId === undefined) {
    log.warn("rate_limited", { surface, subject: subject.kind, rejected, windowStart });
    return;
  }
  await recordAudit(db, {
    event: "RATE_LIMITED",
    tenantId,
    actor: actorOf(userId),
    details: {
      surface,
      windowStart,
      windowEnd: new Date(windowEndMs).toISOString(),
      rejected,
      ...(subject.kind === "user" ? { subject: actorOf(userId) } : {}),
    },
  });
}
