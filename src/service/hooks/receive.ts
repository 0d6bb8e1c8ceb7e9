/**
 * Handles a delivery from a git host: verifies it, and records it together with the index run of the pushed branch. The run reads the
 * branch when it starts, so it indexes the newest push even if deliveries arrive out of order; older runs of the branch that still wait
 * are cancelled, because the new one covers them.
 *
 * One statement writes the delivery and the run, so there is no delivery without its run. What follows may fail at any point: a recorded
 * run that its coordinator does not have is submitted by a redelivery or by the indexer's cron.
 */
import { and, eq, sql } from "drizzle-orm";
import { requestOf } from "../sources/index-source.ts";
import { openSource } from "../sources/sources.ts";
import type { Db } from "../db/client.ts";
import { PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { hookDeliveries, type HookProvider, hooks } from "../db/people-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { runs, workspaces } from "../db/schema.ts";
import { compileGlobs, GlobError } from "../../lib/globs.ts";
import { type CoordinatorNamespace, coordinatorOf } from "../runs/coordinator.ts";
import { dropRef } from "../revisions/refs.ts";
import { cancelRun, type RunRow } from "../runs/runs.ts";
import { newRow, prepareRun, submitRun } from "../runs/start.ts";
import type { RunSpec } from "../db/run-spec.ts";
import { unseal } from "../../lib/seal.ts";
import type { Logger } from "../../lib/log.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { hookSecretPurpose } from "./manage.ts";
import { type Delivery, readDelivery } from "./payload.ts";
import { RecentlyForged } from "./recently-forged.ts";
import { isGenuine } from "./signature.ts";

export interface HookDeps {
  /** Where a hook is found by its id. */
  accounts: Db;
  /** The database of a tenant's rows. */
  databaseOf: (tenantId: string) => Db;
  coordinators: CoordinatorNamespace;
  encryptionKey: string;
  log: Logger;
  /** Takes from the hook's rate limit, which new, authenticated deliveries alone spend. Throws if it is used up. */
  limitHook: (id: string) => Promise<void>;
  /** Takes from the rate limit of the sender's address, for all others. Throws if it is used up. */
  limitSender: () => Promise<void>;
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

/** Whose deliveries are recorded, and what they index. */
export interface Receiver {
  id: string;
  tenantId: string;
  workspaceId: string;
  defaultBranch: string | null;
}

interface Hook extends Receiver {
  provider: HookProvider;
  sealedSecret: string;
}

/** What acts on an authenticated delivery. */
type ActDeps = HookDeps & { db: Db };

const forgedLately = new RecentlyForged<Hook>();

/** Handles one delivery. Throws database errors, after which the host redelivers, and what the limits throw. */
export async function receiveDelivery(deps: HookDeps, incoming: IncomingDelivery): Promise<Received> {
  const known = knownFor(incoming);
  if (known && !(await isSigned(deps, known, incoming))) return refuseForged(deps, known);
  const hook = await findHook(deps.accounts, incoming.id);
  if (!hook || hook.provider !== incoming.provider) {
    await deps.limitSender();
    return { status: "unknown" };
  }
  if (!(await isSigned(deps, hook, incoming))) {
    forgedLately.add(hook);
    return refuseForged(deps, hook);
  }
  let delivery: Delivery;
  try {
    delivery = readDelivery(hook.provider, incoming.headers, incoming.body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Headers are not signed, so a copy of a genuine delivery with another content type ends here.
    await deps.limitSender();
    await recordRejection(deps.databaseOf(hook.tenantId), hook.id, "malformed");
    return { status: "malformed", message: REJECTED.malformed };
  }
  const accepted = { status: "accepted", tenantId: hook.tenantId, event: delivery.event } as const;
  return { ...accepted, ...(await act({ ...deps, db: deps.databaseOf(hook.tenantId) }, hook, delivery)) };
}

/** The hook of a delivery, if forged ones were sent to it a moment ago. */
function knownFor({ id, provider }: IncomingDelivery): Hook | undefined {
  const hook = forgedLately.get(id);
  return hook?.provider === provider ? hook : undefined;
}

async function isSigned(deps: HookDeps, hook: Hook, { headers, body }: IncomingDelivery): Promise<boolean> {
  const secret = await unseal(deps.encryptionKey, hookSecretPurpose(hook.id), hook.sealedSecret);
  return isGenuine(hook.provider, headers, body, secret);
}

async function refuseForged(deps: HookDeps, hook: Hook): Promise<Received> {
  // Not before the check: forged deliveries that someone has a git host send come from the same addresses as genuine ones.
  await deps.limitSender();
  try {
    await recordRejection(deps.databaseOf(hook.tenantId), hook.id, "forged");
  } catch (error) {
    if (pgErrorCode(error) !== PG_FOREIGN_KEY_VIOLATION) throw error;
    // The hook was deleted since it was read.
    forgedLately.delete(hook.id);
    return { status: "unknown" };
  }
  return { status: "forged" };
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

export const ignored = (detail: string): Outcome => ({ outcome: "ignored", runId: null, detail });
const REPEATED = ignored("this delivery was received before");

/** Acts on an authenticated delivery and records it. Throws database errors, and what the limits throw. */
export async function act(deps: ActDeps, hook: Receiver, delivery: Delivery): Promise<Outcome> {
  const earlier = await findEarlier(deps.db, hook.id, delivery.deliveryId);
  await (earlier ? deps.limitSender() : deps.limitHook(hook.id));
  if (earlier && isSettled(earlier)) {
    if (earlier.run?.submission) await submitRun(deps, earlier.run.submission);
    return REPEATED;
  }
  const decided = await decide(deps, hook, delivery);
  if ("outcome" in decided) {
    await record(deps.db, hook, delivery, decided, earlier);
    return decided;
  }
  const started: Outcome = { outcome: "started", runId: decided.runId, detail: null };
  if (!(await record(deps.db, hook, delivery, started, earlier, decided))) return REPEATED;
  try {
    await submitRun(deps, decided);
    const skipped = await cancelWaiting(deps, hook, delivery.push?.branch ?? "", decided.runId);
    if (skipped > 0) started.detail = await recordSkipped(deps.db, hook, decided.runId, skipped);
  } catch (error) {
    // The run is recorded, so it will be submitted. Runs that wait in front of it only cost time.
    deps.log.error("hook_run_not_submitted", error, { runId: decided.runId });
  }
  return started;
}

/** The row of a delivery that was received before. */
interface Earlier {
  outcome: string;
  runId: string | null;
  run: RunRow | null;
}

async function findEarlier(db: Db, hookId: string, deliveryId: string | null): Promise<Earlier | undefined> {
  if (deliveryId === null) return undefined;
  const [row] = await db
    .select({ outcome: hookDeliveries.outcome, runId: hookDeliveries.runId, run: runs })
    .from(hookDeliveries)
    .leftJoin(runs, eq(runs.id, hookDeliveries.runId))
    .where(and(eq(hookDeliveries.hookId, hookId), eq(hookDeliveries.deliveryId, deliveryId)));
  return row;
}

/**
 * Whether nothing is left to do for a delivery. Not settled: its run has failed, the repository had no source, or an earlier version
 * died between receiving the delivery and starting its run.
 */
function isSettled({ outcome, run }: Earlier): boolean {
  if (outcome === "started") return run !== null && run.state !== "failed";
  return outcome !== "received" && outcome !== "failed";
}

/** The run that a delivery asks for, not recorded yet, or the outcome of a delivery that needs none. */
async function decide(
  deps: ActDeps,
  hook: Receiver,
  { event, push, defaultBranch }: Delivery,
): Promise<Outcome | RunSpec> {
  if (push === null) return ignored(event === "ping" ? "the hook works" : "not a push to a branch");
  const source = await openSource(deps, hook.workspaceId).catch((error: unknown) => {
    if (error instanceof TenancyError) return error.message;
    throw error;
  });
  if (typeof source === "string") return { outcome: "failed", runId: null, detail: source };
  if (!source) return { outcome: "failed", runId: null, detail: "the repository has no source" };
  const isDefault = push.branch === (defaultBranch ?? hook.defaultBranch);
  try {
    if (!isDefault && !compileGlobs(source.branches, { field: "branches" })(push.branch)) {
      return ignored("neither the default branch nor a configured one");
    }
  } catch (error) {
    if (error instanceof GlobError) return { outcome: "failed", runId: null, detail: error.message };
    throw error;
  }
  if (push.isDeleted) {
    await cancelWaiting(deps, hook, push.branch);
    return deleteBranch(deps, hook, push.branch, isDefault);
  }
  const { tenantId, workspaceId } = hook;
  const run = { tenantId, workspaceId, branch: push.branch, current: isDefault, actor: `hook:${hook.id}` };
  return prepareRun(deps.encryptionKey, requestOf(source, run));
}

/**
 * Records a delivery with its outcome and, in the same statement, its run. Returns false, and records nothing, if another request
 * has recorded the delivery since `earlier` was read.
 */
async function record(
  db: Db,
  hook: Receiver,
  { event, deliveryId, push }: Delivery,
  { outcome, runId, detail }: Outcome,
  earlier: Earlier | undefined,
  spec?: RunSpec,
): Promise<boolean> {
  const gitSha = push === null || push.isDeleted ? null : push.gitSha;
  const unchanged = earlier
    ? sql`${hookDeliveries.outcome} = ${earlier.outcome} and ${hookDeliveries.runId} is not distinct from ${earlier.runId}`
    : sql`false`;
  const delivery = db
    .insert(hookDeliveries)
    .values({ hookId: hook.id, deliveryId, event, branch: push?.branch ?? null, gitSha, outcome, detail, runId })
    .onConflictDoUpdate({
      target: [hookDeliveries.hookId, hookDeliveries.deliveryId],
      targetWhere: sql`${hookDeliveries.deliveryId} is not null`,
      set: { at: sql`now()`, outcome, detail, runId },
      setWhere: unchanged,
    })
    .returning({ id: hookDeliveries.id });
  if (!spec) return (await delivery).length > 0;
  const { id, tenantId, workspaceId, kind, state, request, submission } = newRow(spec);
  const rows = await rowsOf(
    db,
    sql`with delivery as ${delivery}
      insert into runs (id, tenant_id, workspace_id, kind, state, request, submission)
      select ${id}::uuid, ${tenantId}::uuid, ${workspaceId}::uuid, ${kind}, ${state}, ${JSON.stringify(request)}::jsonb, ${JSON.stringify(submission)}::jsonb
      from delivery returning id`,
  );
  return rows.length > 0;
}

/** Adds to a started run's delivery how many runs it replaced. Returns the text. */
async function recordSkipped(db: Db, hook: Receiver, runId: string, skipped: number): Promise<string> {
  const detail = `${skipped} waiting ${skipped === 1 ? "run" : "runs"} of the branch skipped`;
  await db
    .update(hookDeliveries)
    .set({ detail })
    .where(and(eq(hookDeliveries.hookId, hook.id), eq(hookDeliveries.runId, runId)));
  return detail;
}

/** Deletes the index of a deleted branch, except for the default branch. */
async function deleteBranch(deps: ActDeps, hook: Receiver, branch: string, isDefault: boolean): Promise<Outcome> {
  if (isDefault) return { outcome: "ignored", runId: null, detail: "the default branch was deleted; its index stays" };
  const wasThere = await dropRef(deps.db, hook.workspaceId, `refs/heads/${branch}`);
  return wasThere
    ? { outcome: "deleted", runId: null, detail: "the branch was deleted, and its index too" }
    : { outcome: "ignored", runId: null, detail: "the branch was deleted; it was not indexed" };
}

/**
 * Cancels runs of the branch that wait, or, given a run, those that are older than it: of two that arrive at the same time, the newer one
 * must stay. Returns the number of cancelled runs.
 */
async function cancelWaiting(deps: ActDeps, hook: Receiver, branch: string, coveredBy?: string): Promise<number> {
  const older = sql`(${runs.createdAt}, ${runs.id}) < (select n.created_at, n.id from runs n where n.id = ${coveredBy ?? null})`;
  const open = await deps.db
    .select()
    .from(runs)
    .where(
      and(
        eq(runs.workspaceId, hook.workspaceId),
        eq(runs.kind, "index"),
        // The rows of working runs have this state too.
        eq(runs.state, "queued"),
        sql`${runs.request} ->> 'ref' = ${branch}`,
        coveredBy === undefined ? undefined : older,
      ),
    );
  if (open.length === 0) return 0;
  const unfinished = await coordinatorOf(deps.coordinators, hook.workspaceId).unfinished();
  const working = new Set(unfinished.flatMap(({ runId, state }) => (state === "running" ? [runId] : [])));
  let cancelled = 0;
  for (const run of open) {
    if (working.has(run.id) && coveredBy !== undefined) continue;
    const { state } = await cancelRun(deps, run);
    if (state === "cancelled") cancelled++;
  }
  return cancelled;
}
