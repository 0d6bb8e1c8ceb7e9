/**
 * What a tenant gate knows of its tenant and the tenant's credentials: a cache in front of the database. The clock and
 * the way to wait are arguments.
 *
 * While the database answers, no answer rests on facts older than `MAX_AGE_MS`, and an unknown credential is looked up
 * before it is turned away, so a new key works at once. While the database is away, credentials known from the last good
 * state go on working; for others there is no answer.
 */
import type { CredentialKind } from "./types.ts";

export interface DirectoryTenant {
  monthlyCredits: number;
  sharedIndex: boolean;
}

export interface DirectoryCredential {
  id: string;
  kind: CredentialKind;
  /** SHA-256 of the secret, lower-case hex. */
  secretHash: string;
}

/** A tenant with all its unrevoked credentials; `tenant` is null when there is no such tenant. */
export interface DirectoryState {
  tenant: DirectoryTenant | null;
  credentials: DirectoryCredential[];
}

export interface KnownCredential {
  tenant: DirectoryTenant;
  kind: CredentialKind;
  secretHash: Uint8Array;
}

/** A pause that can be cut short: a timer nobody needs any more must not keep its object in memory. */
export interface Wait {
  done: Promise<void>;
  cancel: () => void;
}

export interface DirectoryOptions {
  /** Asks the database. Rejects when it cannot be asked. `accepted` is called when the answer is taken over. */
  load: () => Promise<{ state: DirectoryState; accepted?: () => void }>;
  /** Unix time in milliseconds. */
  now: () => number;
  wait: (ms: number) => Wait;
  /** The last good state of an earlier life; used when the database is away. */
  initial?: DirectoryState | undefined;
}

/** Facts older than this are renewed in the background when they are used. */
export const REFRESH_AGE_MS = 400;
/** Facts older than this are renewed before they are used. With the time a request takes this keeps revocation within 1 s. */
export const MAX_AGE_MS = 900;
/** How long a load may take. */
export const LOAD_TIMEOUT_MS = 2_000;
/** How long a known credential waits for a database that was away a moment ago. */
export const AWAY_PATIENCE_MS = 100;
/** Shortest time between two look-ups that unknown credentials ask for, so that a flood of them is a trickle of queries. */
export const FORCED_INTERVAL_MS = 100;
/** How long an unknown credential is turned away without being looked up again. */
export const NEGATIVE_TTL_MS = 1_000;
export const MAX_NEGATIVES = 1_000;

interface Loaded {
  tenant: DirectoryTenant | null;
  credentials: Map<string, { kind: CredentialKind; secretHash: Uint8Array }>;
}

export class Directory {
  readonly #options: DirectoryOptions;
  #loaded: Loaded | undefined;
  /** When the query began whose answer `#loaded` is; what happened later may be missing from it. */
  #asOfMs = -Infinity;
  #away = false;
  #refreshing: Promise<boolean> | undefined;
  #refreshStartedMs = -Infinity;
  #forced: Promise<boolean> | undefined;
  /** Unknown credential ids, oldest first, with the time until which they are turned away. */
  readonly #negatives = new Map<string, number>();

  constructor(options: DirectoryOptions) {
    this.#options = options;
    if (options.initial) this.#loaded = unpack(options.initial);
  }

  /** The tenant as last known; null when there is none or nothing is known. */
  get tenant(): DirectoryTenant | null {
    return this.#loaded?.tenant ?? null;
  }

  /** How much longer answers may rest on what is known, in milliseconds; 0 when the database has been away for so long. */
  freshForMs(nowMs: number): number {
    const age = nowMs - this.#asOfMs;
    return age < 0 ? 0 : Math.max(0, MAX_AGE_MS - age);
  }

  /** Finds a credential by its public id. `unavailable`: it is not known and the database cannot be asked. */
  async find(id: string): Promise<KnownCredential | "unknown" | "unavailable"> {
    const askedMs = this.#options.now();
    await this.#renew(askedMs);
    const known = this.#lookUp(id);
    if (known) return known;
    if (this.#asOfMs >= askedMs) return this.#turnAway(id);
    if (!this.#away && (this.#negatives.get(id) ?? 0) > askedMs) return "unknown";
    if (!(await this.#refreshSince(askedMs))) return "unavailable";
    return this.#lookUp(id) ?? this.#turnAway(id);
  }

  /** Sees to it that the tenant is known if it can be. */
  async ready(): Promise<void> {
    await this.#renew(this.#options.now());
  }

  async #renew(nowMs: number): Promise<void> {
    const age = nowMs - this.#asOfMs;
    if (age >= 0 && age <= REFRESH_AGE_MS) return;
    const refreshed = this.#refresh();
    if (age >= 0 && age <= MAX_AGE_MS) return;
    await (this.#away && this.#loaded ? this.#atMost(AWAY_PATIENCE_MS, refreshed) : refreshed);
  }

  #lookUp(id: string): KnownCredential | undefined {
    const tenant = this.#loaded?.tenant;
    const credential = this.#loaded?.credentials.get(id);
    return tenant && credential ? { tenant, ...credential } : undefined;
  }

  #turnAway(id: string): "unknown" {
    this.#negatives.delete(id);
    this.#negatives.set(id, this.#options.now() + NEGATIVE_TTL_MS);
    const oldest = this.#negatives.keys().next().value;
    if (this.#negatives.size > MAX_NEGATIVES && oldest !== undefined) this.#negatives.delete(oldest);
    return "unknown";
  }

  /** Waits for an answer to a query that began at `sinceMs` or later; all who wait share it. False: there was none. */
  async #refreshSince(sinceMs: number): Promise<boolean> {
    // While the database is away the attempt under way tells as much as a later one would.
    if (this.#away || (this.#refreshing && this.#refreshStartedMs >= sinceMs)) return this.#refresh();
    this.#forced ??= this.#force();
    return this.#forced;
  }

  async #force(): Promise<boolean> {
    await (this.#refreshing ?? Promise.resolve());
    const waitMs = this.#refreshStartedMs + FORCED_INTERVAL_MS - this.#options.now();
    if (waitMs > 0) await this.#options.wait(Math.min(waitMs, FORCED_INTERVAL_MS)).done;
    // From here on a caller would not be answered by this query any more: it begins now.
    this.#forced = undefined;
    return this.#refresh();
  }

  /** The promise's value if it comes in time; undefined otherwise. */
  async #atMost<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
    const patience = this.#options.wait(ms);
    try {
      return await Promise.race([promise, patience.done.then(() => undefined)]);
    } finally {
      patience.cancel();
    }
  }

  /** One load at a time. Resolves to whether the database answered; never rejects. */
  #refresh(): Promise<boolean> {
    this.#refreshing ??= this.#load().finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  async #load(): Promise<boolean> {
    const startedMs = this.#options.now();
    this.#refreshStartedMs = startedMs;
    try {
      const answer = await this.#atMost(LOAD_TIMEOUT_MS, this.#options.load());
      this.#away = answer === undefined;
      if (!answer) return false;
      this.#loaded = unpack(answer.state);
      this.#asOfMs = startedMs;
      answer.accepted?.();
      return true;
    } catch {
      this.#away = true;
      return false;
    }
  }
}

function unpack(state: DirectoryState): Loaded {
  const credentials = new Map(
    state.credentials.map(({ id, kind, secretHash }) => [
      id,
      { kind, secretHash: new Uint8Array(Buffer.from(secretHash, "hex")) },
    ]),
  );
  return { tenant: state.tenant, credentials };
}
