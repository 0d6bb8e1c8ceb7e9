/** Typed client of the Code Context service. Needs only `fetch` and timers. */
export {
  CodeContextClient,
  indexResultOf,
  type ClientOptions,
  type IndexInput,
  type Selector,
  type Snapshots,
} from "./client.ts";
export { CodeContextError, type ClientErrorCode, type CodeContextErrorOptions } from "./errors.ts";
export type { AnswerLike, CallOptions, FetchLike, SentRequest, TransportOptions, WaitEvent } from "./transport.ts";
export { JITTER_SHARE, MAX_BACKOFF_MS, MIN_BACKOFF_MS, SLOW_DOWN_SHARE } from "./waits.ts";
