/** Metering: credits are reserved before the provider is called and settled, durably, before the answer leaves. */
import { backoffMs } from "../../lib/backoff.ts";
import { MAX_INPUT_CHARACTERS, RETRY_AFTER_HEADER, TOKENS_PER_CREDIT } from "../../contract/index.ts";
import { type CallOptions, estimateTokens, UpstreamError } from "../../engines/embedding/index.ts";
import { ApiError } from "../../lib/errors.ts";
import { reserve, settle } from "../../service/gate/client.ts";
import type { CreditRequest, Principal, QuotaExceeded, Settlement } from "../../service/gate/types.ts";
import { pause } from "../../lib/pause.ts";
import type { ApiContext } from "./context.ts";
import type { BodyResult } from "./middleware/body.ts";

export type UpstreamCall<T> = (options: Pick<CallOptions, "signal">) => Promise<T>;

/** Added to the upstream's timeout to get a reservation's deadline. */
const HOLD_MARGIN_MS = 30_000;
const SETTLE_ATTEMPTS = 3;
const SETTLE_BACKOFF = { baseMs: 200, capMs: 1_000 };

/** Rejects a body with more characters than the contract allows per field, in UTF-16 code units (JavaScript `length`). */
export function checkCharacters<T>(
  body: { ok: true; data: T },
  textsOf: (data: T) => Record<string, readonly string[]>,
): BodyResult<T> {
  for (const [field, texts] of Object.entries(textsOf(body.data))) {
    let characters = 0;
    for (const text of texts) characters += text.length;
    if (characters <= MAX_INPUT_CHARACTERS) continue;
    const message = `${field} has ${characters} characters (UTF-16 code units); at most ${MAX_INPUT_CHARACTERS} are allowed, so split the request`;
    return { ok: false, error: new ApiError("INPUT_TOO_LARGE", message) };
  }
  return body;
}

/** Credits to reserve for texts, from their estimated tokens. */
export function estimateCredits(texts: Record<string, readonly string[]>): number {
  return Math.max(1, Math.ceil(estimateTokens(Object.values(texts).flat()) / TOKENS_PER_CREDIT));
}

/** The reservation of `credits` for one call to the provider. */
export function creditRequest(c: ApiContext, credits: number): CreditRequest {
  return { credits, holdMs: c.get("services").upstreamTimeoutMs + HOLD_MARGIN_MS };
}

/** Reserves credits for an admitted request. Throws `QUOTA_EXCEEDED` or `UNAVAILABLE`. */
export async function reserveCredits(c: ApiContext, principal: Principal, credits: number): Promise<string> {
  const { tenantId, credentialId } = principal;
  const reserved = await reserve(c.env.TENANT_GATE, tenantId, credentialId, creditRequest(c, credits));
  if (reserved.outcome === "reserved") return reserved.reservationId;
  throw reserved.outcome === "quota_exceeded" ? quotaError(reserved, credits) : unavailable();
}

/**
 * Reserves credits for `texts`, calls the provider and settles. For routes that are not metered as a whole, such as a search that
 * embeds its query. Throws like `charge` of a metered route.
 */
export async function runMetered<T extends { tokens: number }>(
  c: ApiContext,
  principal: Principal,
  kind: "embed" | "rerank",
  texts: readonly string[],
  call: UpstreamCall<T>,
): Promise<{ result: T; credits: number }> {
  const reservationId = await reserveCredits(c, principal, estimateCredits({ texts }));
  return runReserved(c, principal.tenantId, reservationId, kind, call);
}

/** Calls the provider and settles the reserved credits. A failed call costs nothing and throws the contract's error. */
export async function runReserved<T extends { tokens: number }>(
  c: ApiContext,
  tenantId: string,
  reservationId: string,
  kind: "embed" | "rerank",
  call: UpstreamCall<T>,
): Promise<{ result: T; credits: number }> {
  let result: T;
  try {
    const run = () => call({ signal: c.req.raw.signal });
    result = await (isBuiltin(c, kind) ? run() : c.get("turn").outside(run));
  } catch (error) {
    await release(c, tenantId, reservationId);
    throw toContractError(c, error);
  }
  const credits = await settleDurably(c, tenantId, reservationId, { outcome: "charged", kind, tokens: result.tokens });
  return { result, credits };
}

/** Whether texts are embedded or ranked in this isolate. */
function isBuiltin(c: ApiContext, kind: "embed" | "rerank"): boolean {
  return kind === "embed" ? c.get("services").embedder?.isModel === false : c.env.RERANK_PROVIDER === "builtin";
}

/** Releases reserved credits. If the gate cannot be reached, they expire at their deadline. */
export async function release(c: ApiContext, tenantId: string, reservationId: string): Promise<void> {
  await settle(c.env.TENANT_GATE, tenantId, reservationId, { outcome: "failed" });
}

async function settleDurably(
  c: ApiContext,
  tenantId: string,
  reservationId: string,
  settlement: Settlement,
): Promise<number> {
  for (let attempt = 1; attempt <= SETTLE_ATTEMPTS; attempt++) {
    const settled = await settle(c.env.TENANT_GATE, tenantId, reservationId, settlement);
    if ("credits" in settled) return settled.credits;
    await pause(backoffMs(attempt, SETTLE_BACKOFF));
  }
  throw unavailable();
}

/** Calls a provider without metering. Throws the contract's error if it fails. */
export async function callProvider<T>(c: ApiContext, call: UpstreamCall<T>): Promise<T> {
  try {
    return await c.get("turn").outside(() => call({ signal: c.req.raw.signal }));
  } catch (error) {
    throw toContractError(c, error);
  }
}

/** The error of a request that needs up to `needed` credits when fewer are left. */
export function quotaError({ limit, used, resetsAt, retryAfterSec }: QuotaExceeded, needed: number): ApiError {
  const left = Math.max(0, limit - used);
  const message = `${left} of ${limit} credits are left this month and the request needs up to ${needed}; the quota resets at ${resetsAt}`;
  return new ApiError("QUOTA_EXCEEDED", message, {
    details: { limit, used, resetsAt },
    headers: { [RETRY_AFTER_HEADER]: String(retryAfterSec) },
  });
}

/** The error of a request whose usage cannot be recorded. */
export function unavailable(): ApiError {
  return new ApiError("UNAVAILABLE", "the usage cannot be recorded right now; try again", {
    headers: { [RETRY_AFTER_HEADER]: "5" },
  });
}

/** Upstream statuses whose answers may quote the request, and thus tenant content. */
const QUOTING_STATUSES = new Set([400, 413, 422]);

function toContractError(c: ApiContext, error: unknown): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const { code, status, detail } = error;
  // The client has disconnected: nobody sees this error.
  if (code === "ABORTED") return new ApiError("UPSTREAM_UNREACHABLE", error.message);
  const quotes = status !== undefined && QUOTING_STATUSES.has(status);
  c.get("log").warn("upstream_failed", { code, upstreamStatus: status, detail: quotes ? undefined : detail });
  return new ApiError(code, error.message);
}
