/**
 * Handles a delivery from a git host: verifies and records it, and starts an index run of the pushed branch. The run reads the branch
 * when it starts, so it indexes the newest push even if deliveries arrive out of order; queued runs of the branch are cancelled, because
 * the new one covers them.
 */
import { and, eq, sql } from "drizzle-orm";
import { indexSource } from "../dashboard/index-runs.ts";
import { openSource } from "../dashboard/sources.ts";
import type { Db } from "../db/client.ts";
import { hookDeliveries, type HookProvider, hooks } from "../db/people-schema.ts";
import { runs, workspaces } from "../db/schema.ts";
import { compileGlobs } from "../globs.ts";
import type { CoordinatorNamespace } from "../indexing/coordinator.ts";
import { dropRef } from "../indexing/revision-files.ts";
import { cancelRun } from "../indexing/runs.ts";
import { unseal } from "../indexing/seal.ts";
import type { Logger } from "../log.ts";
import { hookSecretPurpose } from "./manage.ts";
import { type Delivery, readDelivery } from "./payload.ts";
import { isGenuine } from "./signature.ts";

export interface HookDeps {
  db: Db;
  coordinators: CoordinatorNamespace;
  encryptionKey: string;
  log: Logger;
}

export interface IncomingDelivery {
  provider: string;
  id: string;
  headers: { get(name: string): string | null };
  body: Uint8Array;
}

/** Outcome of a delivery. */
export type Outcome =
  | { outcome: "started"; runId: string; detail: string | null }
  | { outcome: "deleted" | "ignored" | "failed"; runId: null; detail: string };

export type Received =
  | ({ status: "accepted"; tenantId: string; event: string } & Outcome)
  /** No such hook. */
  | { status: "unknown" }
  | { status: "forged" }
  | { status: "malformed"; message: string };

interface Hook {
  id: string;
  tenantId: string;
  workspaceId: string;
  provider: HookProvider;
  sealedSecret: string;
  defaultBranch: string | null;
}

/** Handles one delivery. Throws database errors, after which the host redelivers. */
export async function receiveDelivery(deps: HookDeps, incoming: IncomingDelivery): Promise<Received> {
  const hook = await findHook(deps.db, incoming.id);
  if (!hook || hook.provider !== incoming.provider) return { status: "unknown" };
  const secret = await unseal(deps.encryptionKey, hookSecretPurpose(hook.id), hook.sealedSecret);
  if (!isGenuine(hook.provider, incoming.headers, incoming.body, secret)) {
    await recordRejection(deps.db, hook.id, "forged");
    return { status: "forged" };
  }
  let delivery: Delivery;
  try {
    delivery = readDelivery(hook.provider, incoming.headers, incoming.body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    await recordRejection(deps.db, hook.id, "malformed");
    return { status: "malformed", message: REJECTED.malformed };
  }
  const accepted = { status: "accepted", tenantId: hook.tenantId, event: delivery.event } as const;
  const recorded = await claimDelivery(deps.db, hook, delivery);
  if (recorded === undefined) {
    return { ...accepted, outcome: "ignored", runId: null, detail: "this delivery was received before" };
  }
  try {
    const outcome = await act(deps, hook, delivery);
    await recordOutcome(deps.db, recorded, outcome);
    return { ...accepted, ...outcome };
  } catch (error) {
    // Delete the claim, so that a redelivery with the same id is handled.
    await deps.db.delete(hookDeliveries).where(eq(hookDeliveries.id, recorded));
    throw error;
  }
}

async function findHook(db: Db, id: string): Promise<Hook | undefined> {
  const [row] = await db
    .select({
      id: hooks.id,
      tenantId: hooks.tenantId,
      workspaceId: hooks.workspaceId,
      provider: hooks.provider,
      sealedSecret: hooks.sealedSecret,
      defaultBranch: workspaces.defaultBranch,
    })
    .from(hooks)
    .innerJoin(workspaces, eq(workspaces.id, hooks.workspaceId))
    .where(eq(hooks.id, id));
  return row;
}

/** Records a delivery; undefined if it was received before. */
async function claimDelivery(db: Db, hook: Hook, { event, deliveryId, push }: Delivery): Promise<string | undefined> {
  const [row] = await db
    .insert(hookDeliveries)
    .values({
      hookId: hook.id,
      deliveryId,
      event,
      branch: push?.branch ?? null,
      gitSha: push === null || push.isDeleted ? null : push.gitSha,
      outcome: "received",
    })
    .onConflictDoNothing()
    .returning({ id: hookDeliveries.id });
  return row?.id;
}

/** Why a delivery was rejected, for the answer and the dashboard. */
export const REJECTED = {
  forged: "the signature or token is not the hook's: enter its secret at the host again",
  malformed: "the payload does not have the provider's format",
};

/** Records a rejected delivery: one row per reason and day, so that someone who knows a hook's address cannot fill the table or the list. */
async function recordRejection(db: Db, hookId: string, reason: keyof typeof REJECTED): Promise<void> {
  const deliveryId = `${reason} ${new Date().toISOString().slice(0, 10)}`;
  await db
    .insert(hookDeliveries)
    .values({ hookId, deliveryId, event: "delivery", outcome: "rejected", detail: REJECTED[reason] })
    .onConflictDoUpdate({
      target: [hookDeliveries.hookId, hookDeliveries.deliveryId],
      targetWhere: sql`${hookDeliveries.deliveryId} is not null`,
      set: { at: sql`now()`, times: sql`${hookDeliveries.times} + 1` },
    });
}

async function recordOutcome(db: Db, id: string, { outcome, runId, detail }: Outcome): Promise<void> {
  await db.update(hookDeliveries).set({ outcome, runId, detail }).where(eq(hookDeliveries.id, id));
}

async function act(deps: HookDeps, hook: Hook, { event, push, defaultBranch }: Delivery): Promise<Outcome> {
  const ignored = (detail: string): Outcome => ({ outcome: "ignored", runId: null, detail });
  if (push === null) return ignored(event === "ping" ? "the hook works" : "not a push to a branch");
  const source = await openSource(deps, hook.workspaceId);
  if (!source) return { outcome: "failed", runId: null, detail: "the repository has no source" };
  const isDefault = push.branch === (defaultBranch ?? hook.defaultBranch);
  if (!isDefault && !matchesBranch(source.branches, push.branch)) {
    return ignored("neither the default branch nor a configured one");
  }
  const skipped = await cancelWaiting(deps, hook, push.branch);
  if (push.isDeleted) return deleteBranch(deps, hook, push.branch, isDefault);
  const { tenantId, workspaceId } = hook;
  const { branch } = push;
  const run = { tenantId, workspaceId, branch, current: isDefault, actor: `hook:${hook.id}` };
  const { runId } = await indexSource(deps, source, run);
  const detail = skipped === 0 ? null : `${skipped} waiting ${skipped === 1 ? "run" : "runs"} of the branch skipped`;
  return { outcome: "started", runId, detail };
}

/** Deletes the index of a deleted branch, except for the default branch. */
async function deleteBranch(deps: HookDeps, hook: Hook, branch: string, isDefault: boolean): Promise<Outcome> {
  if (isDefault) return { outcome: "ignored", runId: null, detail: "the default branch was deleted; its index stays" };
  const wasThere = await dropRef(deps.db, hook.workspaceId, `refs/heads/${branch}`);
  return wasThere
    ? { outcome: "deleted", runId: null, detail: "the branch was deleted, and its index too" }
    : { outcome: "ignored", runId: null, detail: "the branch was deleted; it was not indexed" };
}

function matchesBranch(globs: readonly string[], branch: string): boolean {
  return globs.length > 0 && compileGlobs(globs)(branch);
}

/** Cancels queued runs of the branch, which the new run covers. */
async function cancelWaiting(deps: HookDeps, hook: Hook, branch: string): Promise<number> {
  const waiting = await deps.db
    .select()
    .from(runs)
    .where(
      and(
        eq(runs.workspaceId, hook.workspaceId),
        eq(runs.kind, "index"),
        eq(runs.state, "queued"),
        sql`${runs.request} ->> 'ref' = ${branch}`,
      ),
    );
  let cancelled = 0;
  for (const run of waiting) {
    const { state } = await cancelRun(deps, run);
    if (state === "cancelled") cancelled++;
  }
  return cancelled;
}
