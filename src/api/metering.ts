/** What the metered routes share: reserving before the model is asked, settling after, and never answering uncounted. */
import type { MiddlewareHandler } from "hono";
import { RETRY_AFTER_HEADER, TOKENS_PER_CREDIT } from "../contract/index.ts";
import { type CallOptions, estimateTokens, UpstreamError } from "../embedding/index.ts";
import { ApiError } from "../errors.ts";
import { settle } from "../gate/client.ts";
import { creditsOf } from "../gate/credits.ts";
import type { Settlement } from "../gate/types.ts";
import { pause } from "../pause.ts";
import type { ApiHono } from "./context.ts";
import type { Exchange } from "./exchange.ts";
import { type Admission, authorize } from "./middleware/authorize.ts";
import type { BodyResult } from "./middleware/body.ts";

/** What every upstream call of a request has: what tells of its client, and its timer. */
export type UpstreamOptions = Pick<CallOptions, "signal" | "within">;

/** What may pass, after the upstream's own timeout, until a request is settled; its credits stay reserved that long. */
const HOLD_MARGIN_MS = 30_000;
const SETTLE_ATTEMPTS = 3;
const SETTLE_RETRY_MS = 200;

/**
 * Lets a request run to its end when its client leaves: the upstream call is aborted through the request's signal, but the
 * credits reserved for it have to be given back.
 */
export const outliveClient: MiddlewareHandler<ApiHono> = async (c, next) => {
  const work = next();
  c.executionCtx.waitUntil(work.catch(() => undefined));
  await work;
};

/**
 * Takes a metered request through the gate. Credits are reserved for the texts of a valid body, if there is a `provider` to
 * send them to; any other request only takes from the rate bucket.
 */
export function admitMetered<T>(
  exchange: Exchange,
  body: BodyResult<T>,
  textsOf: (data: T) => readonly string[],
  provider: object | undefined,
): Promise<Admission> {
  const need = { credential: "api_key", surface: "metered" } as const;
  if (!body.ok || provider === undefined) return authorize(exchange, need);
  const estimateCredits = Math.max(1, Math.ceil(estimateTokens(textsOf(body.data)) / TOKENS_PER_CREDIT));
  const holdMs = exchange.services.upstreamTimeoutMs + HOLD_MARGIN_MS;
  return authorize(exchange, { ...need, metered: { estimateCredits, holdMs } });
}

/**
 * Runs the upstream call of an admitted request. `credits` resolves once the answer may go: where the tenant has much left
 * as soon as its settlement is on its way, where every credit counts not before it is durable. The answer must wait for it,
 * and may be put together meanwhile. Throws the contract's error when the upstream fails; then nothing is charged.
 */
export async function runMetered<T extends { tokens: number }>(
  exchange: Exchange,
  { principal, reservationId, covered }: Admission,
  kind: "embed" | "rerank",
  call: (options: UpstreamOptions) => Promise<T>,
): Promise<{ result: T; credits: Promise<number> }> {
  if (reservationId === null) throw new Error("a metered call needs a reservation");
  const { tenantId } = principal;
  const gates = exchange.env.TENANT_GATE;
  const end = (settlement: Settlement) => settle(gates, tenantId, reservationId, settlement);
  const endLater = (settlement: Settlement) =>
    covered &&
    exchange.services.settlements.add(gates, tenantId, reservationId, settlement, (work) => exchange.waitUntil(work));
  let result: T;
  try {
    result = await call(upstreamOptions(exchange));
  } catch (error) {
    const failed = { outcome: "failed" } as const;
    if (!endLater(failed)) await end(failed);
    throw toApiError(exchange, error);
  }
  const charged = { outcome: "charged", kind, tokens: result.tokens } as const;
  if (endLater(charged)) return { result, credits: Promise.resolve(creditsOf(result.tokens)) };
  const credits = settleDurably(() => end(charged));
  // Awaited by the route, unless putting the answer together fails first.
  credits.catch(() => undefined);
  return { result, credits };
}

async function settleDurably(attempt: () => ReturnType<typeof settle>): Promise<number> {
  for (let i = 1; ; i++) {
    const settled = await attempt();
    if ("credits" in settled) return settled.credits;
    if (i === SETTLE_ATTEMPTS) {
      throw new ApiError("UNAVAILABLE", "the usage cannot be recorded right now; try again", {
        headers: { [RETRY_AFTER_HEADER]: "5" },
      });
    }
    await pause(SETTLE_RETRY_MS * i * (1 + Math.random()));
  }
}

function upstreamOptions({ signal, within }: Exchange): UpstreamOptions {
  return signal ? { signal, within } : { within };
}

/** Asks a provider outside of metering. Throws the contract's error when it fails. */
export async function askProvider<T>(exchange: Exchange, call: (options: UpstreamOptions) => Promise<T>): Promise<T> {
  try {
    return await call(upstreamOptions(exchange));
  } catch (error) {
    throw toApiError(exchange, error);
  }
}

/** Statuses of answers that quote what was sent, and so what tenants wrote. */
const QUOTING_STATUSES = new Set([400, 413, 422]);

function toApiError({ log }: Pick<Exchange, "log">, error: unknown): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const { code, status, detail } = error;
  // The client has left: what is thrown is seen by nobody.
  if (code === "ABORTED") return new ApiError("UPSTREAM_UNREACHABLE", error.message);
  const quotes = status !== undefined && QUOTING_STATUSES.has(status);
  log.warn("upstream_failed", { code, upstreamStatus: status, detail: quotes ? undefined : detail });
  return new ApiError(code, error.message);
}
