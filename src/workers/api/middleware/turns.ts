/**
 * Requests in turn by who sends them. An isolate is one thread: between two steps of a request it takes a step of every other one under
 * way. So that a sender who keeps many connections busy does not slow the others in proportion, two requests of each are at work while
 * several ask, and its further ones wait for them, before their body is read and before the gate or the database is asked.
 */
import type { MiddlewareHandler } from "hono";
import { RETRY_AFTER_HEADER } from "../../../contract/index.ts";
import { ApiError } from "../../../lib/errors.ts";
import { pause } from "../../../lib/pause.ts";
import { RefusalDelay } from "../../../lib/refusal-delay.ts";
import { TooManyWaitingError, Turns } from "../../../lib/turns.ts";
import { clientAddress } from "../../../service/gate/proxies.ts";
import { sourceOf } from "../../../service/gate/source.ts";
import { isHookId } from "../../../service/hooks/ids.ts";
import type { ParsedCredential } from "../../../service/tenancy/credentials.ts";
import type { ApiContext, ApiHono } from "../context.ts";
import { presentedCredential } from "./presented.ts";

/** Fewer than overlap a tenant's waits for gate and database, so only while others use the isolate too. */
const AT_WORK = 2;
const AT_WORK_ALONE = 16;
/** A request that works longer does not count any more, so that one that hangs does not hold up its tenant. */
const MAX_WORK_MS = 10_000;
/** More than a rate limit allows in a minute. */
const MAX_WAITING = 2_000;
const RETRY_AFTER_SEC = "1";

/** Credentials that a gate has accepted, remembered so that only those count for their tenant. */
const MAX_ACCEPTED = 10_000;
const accepted = new Set<string>();

const requests = new Turns({
  room: Infinity,
  share: AT_WORK,
  shareAlone: AT_WORK_ALONE,
  maxWorkMs: MAX_WORK_MS,
  maxWaiting: MAX_WAITING,
});

/** A refusal that is delayed keeps its turn, so a sender who does not heed refusals gets few of them. */
const refusals = new RefusalDelay();

/** Runs each request in its turn. */
export const inTurn: MiddlewareHandler<ApiHono> = async (c, next) => {
  try {
    const owner = ownerOf(c);
    await requests.run(owner, 1, async (turn) => {
      c.set("turn", turn);
      await next();
      const delayMs = isRefusal(owner, c.res.status) ? refusals.delayOf(owner) : 0;
      if (delayMs > 0) await pause(delayMs);
    });
  } catch (error) {
    if (!(error instanceof TooManyWaitingError)) throw error;
    throw new ApiError("UNAVAILABLE", `more than ${MAX_WAITING} requests wait; send fewer at once`, {
      headers: { [RETRY_AFTER_HEADER]: RETRY_AFTER_SEC },
    });
  }
};

/**
 * Notes whether a gate has accepted a credential. Before that, a request counts for its address: who only knows a key's public id must
 * not take the turns of its tenant.
 */
export function noteCredential(credential: ParsedCredential, isAccepted: boolean): void {
  const name = nameOf(credential);
  if (!isAccepted) {
    accepted.delete(name);
    return;
  }
  if (accepted.size >= MAX_ACCEPTED) accepted.clear();
  accepted.add(name);
}

const nameOf = ({ id, secretHash }: ParsedCredential): string => `${id} ${secretHash}`;

/** Whether nothing was done for a request: it is over its rate limit, or came without a valid credential. */
const isRefusal = (owner: string, status: number): boolean =>
  status === 429 || (status >= 400 && status < 500 && !owner.startsWith("tenant "));

/** Whose turn a request takes: its tenant's, its hook's (all tenants' deliveries come from the same addresses), else its address's. */
function ownerOf(c: ApiContext): string {
  const { proxies } = c.get("services");
  const credential = presentedCredential(c, "api_key") ?? presentedCredential(c, "worker_token");
  if (credential && accepted.has(nameOf(credential))) return `tenant ${credential.tenantId}`;
  const hookId = HOOK_PATH.exec(c.req.path)?.[1];
  if (hookId !== undefined && isHookId(c.env.ENCRYPTION_KEY, hookId)) return `hook ${hookId}`;
  return `address ${sourceOf(clientAddress(c.req.raw.headers, proxies))}`;
}

const HOOK_PATH = /^(?:\/api\/v1)?\/hooks\/[^/]+\/([^/]+)\/?$/;
