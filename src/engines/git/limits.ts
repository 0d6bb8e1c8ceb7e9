/**
 * Every cap and timeout of the git client, in one place. Sizes are bytes unless the name says otherwise; times are
 * enforced by timers, because clocks do not advance during CPU work in Workers.
 */
export interface GitLimits {
  /** One tree object. */
  treeBytes: number;
  /** All tree objects of one pull together. */
  treesTotalBytes: number;
  /** One commit or tag object. */
  commitBytes: number;
  /** The instructions of one delta; larger ones are not applied. */
  deltaBytes: number;
  /** Deltas kept until their base arrives. */
  pendingDeltaBytes: number;
  /** Paths that a tree may expand to (a small pack can describe exponentially many). */
  files: number;
  /** Directory nesting. */
  treeDepth: number;
  /** Lines of a reference advertisement. */
  refs: number;
  /** Bytes of a reference advertisement or another answer that is not a pack. */
  textBytes: number;
  /** Objects that one pack may declare. */
  objects: number;
  /** Response bytes of one pull, all requests together. */
  totalBytes: number;
  /** Compressed bytes buffered ahead of the parser. */
  inputBufferBytes: number;
  /** The ring of inflated objects: delta-base cache and holding area until the plan is known. */
  ringBytes: number;
  /** Object ids requested at a time. */
  wantsPerRequest: number;
  /** One whole operation (connect, resolve, pull). */
  wallMs: number;
  /** From sending a request to its response headers. */
  headersMs: number;
  /** Between two reads of a response body. */
  idleMs: number;
  /** Attempts per request; only network failures before the first delivered object are retried. */
  attempts: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_GIT_LIMITS: Readonly<GitLimits> = {
  treeBytes: 16 * MIB,
  treesTotalBytes: 48 * MIB,
  commitBytes: 4 * MIB,
  deltaBytes: 8 * MIB,
  pendingDeltaBytes: 8 * MIB,
  files: 500_000,
  treeDepth: 256,
  refs: 500_000,
  textBytes: 48 * MIB,
  objects: 20_000_000,
  totalBytes: 4096 * MIB,
  inputBufferBytes: 4 * MIB,
  ringBytes: 8 * MIB,
  wantsPerRequest: 4_000,
  wallMs: 12 * 60_000,
  headersMs: 60_000,
  idleMs: 60_000,
  attempts: 3,
};

/** First retry delay; doubled each time up to {@link RETRY_MAX_MS}, plus jitter. */
export const RETRY_BASE_MS = 250;
export const RETRY_MAX_MS = 4_000;
/** Redirects followed for the reference advertisement. */
export const MAX_REDIRECTS = 3;
/** Length to which a server's message is cut. */
export const STDERR_MAX_BYTES = 4 * KIB;
/** Request bodies above this size are sent gzip-compressed, as git itself does. */
export const GZIP_MIN_BYTES = KIB;
/** A pkt-line with its four length digits is never longer. */
export const PKT_MAX_BYTES = 65_520;

/** Completes the caller's limits with the defaults. */
export function withDefaultLimits(limits: Partial<GitLimits> | undefined): GitLimits {
  return { ...DEFAULT_GIT_LIMITS, ...limits };
}
