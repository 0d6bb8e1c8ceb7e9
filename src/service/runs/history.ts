/** What happened in a run: when it was in each phase, and what was tried again and why. Plain data of bounded size, stored with the run. */
import type { RunPhase } from "../../contract/index.ts";

export interface RunError {
  code: string;
  error: string;
  details?: Record<string, unknown>;
}

/** Work on one phase of an attempt. Pulling and indexing overlap: shards are indexed while others still arrive. */
export interface PhaseSpan {
  phase: RunPhase;
  attempt: number;
  /** Unix milliseconds. */
  from: number;
  /** Null while the phase is under way. */
  to: number | null;
}

/** A failure that did not end the run. */
export interface Retry {
  /** Unix milliseconds. */
  at: number;
  attempt: number;
  /** What failed; null if the worker has stopped reporting. */
  step: "plan" | "shard" | "finish" | "build" | null;
  /** `restart`: a new attempt from the plan. `repeat`: the same step again. */
  action: "restart" | "repeat";
  code: string;
  error: string;
  /** Why a pull failed, a code of the git client. */
  reason?: string;
  /** Seconds until the next try. */
  waitSec: number;
}

export interface RunHistory {
  spans: PhaseSpan[];
  /** The latest {@link MAX_RETRIES}. */
  retries: Retry[];
  /** Number of all retries. */
  retryCount: number;
}

export const NO_HISTORY: RunHistory = { spans: [], retries: [], retryCount: 0 };

const MAX_SPANS = 60;
const MAX_RETRIES = 30;
const MAX_ERROR_CHARACTERS = 300;

/** Notes that a phase of an attempt has begun, if it is not under way. */
export function enterPhase(history: RunHistory, phase: RunPhase, attempt: number, now: number): RunHistory {
  const isOpen = history.spans.some((span) => span.phase === phase && span.attempt === attempt && span.to === null);
  if (isOpen) return history;
  return { ...history, spans: [...history.spans, { phase, attempt, from: now, to: null }].slice(-MAX_SPANS) };
}

/** Notes that a phase has ended; without one, that all have. */
export function leavePhase(history: RunHistory, now: number, phase?: RunPhase): RunHistory {
  const isLeft = (span: PhaseSpan) => span.to === null && (phase === undefined || span.phase === phase);
  if (!history.spans.some(isLeft)) return history;
  return { ...history, spans: history.spans.map((span) => (isLeft(span) ? { ...span, to: now } : span)) };
}

/** Notes a failure that is followed by another try. */
export function addRetry(
  history: RunHistory,
  { code, error, details }: RunError,
  retry: Omit<Retry, "code" | "error" | "reason">,
): RunHistory {
  const reason = details?.["reason"];
  const noted: Retry = {
    ...retry,
    code,
    error: error.slice(0, MAX_ERROR_CHARACTERS),
    ...(typeof reason === "string" && { reason }),
  };
  return {
    ...history,
    retries: [...history.retries, noted].slice(-MAX_RETRIES),
    retryCount: history.retryCount + 1,
  };
}
