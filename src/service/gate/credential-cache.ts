/**
 * Cache of one tenant's credentials in front of the database. The clock is an argument.
 *
 * While the database answers, entries older than `MAX_AGE_MS` are not used, so a revocation takes effect within one second,
 * the time of the request included. While the database is unreachable, a known credential is trusted for `TRUST_MS`.
 */
import { raceTimeout } from "../../lib/pause.ts";
import type { CredentialScope } from "../../contract/credentials.ts";
import type { StoredKind } from "../tenancy/restrictions.ts";
import type { Sql } from "./types.ts";

/** A valid credential with its tenant's settings. */
export interface CredentialFacts {
  kind: StoredKind;
  /** SHA-256 of the secret, lower-case hex. */
  secretHash: string;
  /** Unix time in milliseconds; null for a credential that does not expire. */
  expiresAtMs: number | null;
  monthlyCredits: number;
  sharedIndex: boolean;
  /** Absent for a credential that is not narrow. Releases that do not know it refuse the credential by its kind. */
  narrow?: NarrowFacts;
}

/** What a narrow credential is limited to. */
export interface NarrowFacts {
  repos?: string[];
  scopes?: CredentialScope[];
  /** Those among the credential and its ancestors that have a budget or a rate of their own. All of them apply. */
  limits: CredentialLimit[];
}

export interface CredentialLimit {
  /** Public id. */
  id: string;
  monthlyCredits?: number;
  ratePerMinute?: number;
}

export const CREDENTIALS_SCHEMA = `
create table credentials (id text primary key, facts text not null, checked_at_ms integer not null) without rowid;
`;

/** Older entries are refreshed in the background when they are used. */
const REFRESH_AGE_MS = 400;
/** Older entries are refreshed before they are used. */
const MAX_AGE_MS = 900;
/** How long a known credential is trusted while the database is unreachable. */
const TRUST_MS = 10 * 60_000;
const LOAD_TIMEOUT_MS = 2_000;
/** How long a request with a known credential waits for a database that was unreachable a moment ago. */
const AWAY_TIMEOUT_MS = 100;
/** Unchanged facts are stored again after this time. An eviction shortens `TRUST_MS` by at most this. */
const STORE_INTERVAL_MS = 60_000;
const MAX_ENTRIES = 1_000;

interface Entry {
  /** Null if the database has no valid credential with this id. */
  facts: CredentialFacts | null;
  /** When the query for these facts began. */
  asOfMs: number;
}

interface CacheOptions {
  /** Queries the database; null for an unknown or revoked id. Rejects if the database cannot be reached. */
  load: (id: string) => Promise<CredentialFacts | null>;
  /** Called when facts are to be stored (or, if null, dropped); see `storeFacts`. */
  store: (id: string, facts: CredentialFacts | null, checkedAtMs: number) => void;
  now: () => number;
}

export class CredentialCache {
  readonly #options: CacheOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #storedAtMs = new Map<string, number>();
  readonly #loading = new Map<string, Promise<Entry | undefined>>();
  #isAway = false;

  /** `stored`: rows that an earlier instance stored, from `readFacts`. */
  constructor(options: CacheOptions, stored: Iterable<readonly [string, CredentialFacts, number]> = []) {
    this.#options = options;
    for (const [id, facts, asOfMs] of stored) {
      this.#entries.set(id, { facts, asOfMs });
      this.#storedAtMs.set(id, asOfMs);
    }
  }

  /** The cached facts of a credential, of any age. */
  peek(id: string): CredentialFacts | null {
    return this.#entries.get(id)?.facts ?? null;
  }

  /** Finds a credential by its public id. `unavailable`: the database is unreachable and no cached entry may be trusted. */
  async find(id: string): Promise<CredentialFacts | "unknown" | "unavailable"> {
    const entry = await this.#freshEntry(id);
    if (!entry) return "unavailable";
    const isExpired = entry.facts?.expiresAtMs != null && entry.facts.expiresAtMs <= this.#options.now();
    return entry.facts === null || isExpired ? "unknown" : entry.facts;
  }

  async #freshEntry(id: string): Promise<Entry | undefined> {
    const entry = this.#entries.get(id);
    // A clock that was set back must not make facts look fresh.
    const ageMs = entry ? Math.abs(this.#options.now() - entry.asOfMs) : Infinity;
    if (ageMs <= REFRESH_AGE_MS) return entry;
    const refreshed = this.#refresh(id);
    if (ageMs <= MAX_AGE_MS) return entry;
    const isTrusted = ageMs <= TRUST_MS && entry?.facts != null;
    if (!isTrusted) return refreshed;
    const timeoutMs = this.#isAway ? AWAY_TIMEOUT_MS : LOAD_TIMEOUT_MS;
    return (await raceTimeout(refreshed, timeoutMs).catch(() => undefined)) ?? entry;
  }

  /** Loads a credential, once per id at a time. Resolves to undefined if the database did not answer; never rejects. */
  #refresh(id: string): Promise<Entry | undefined> {
    let loading = this.#loading.get(id);
    if (!loading) {
      loading = this.#load(id).finally(() => this.#loading.delete(id));
      this.#loading.set(id, loading);
    }
    return loading;
  }

  async #load(id: string): Promise<Entry | undefined> {
    const asOfMs = this.#options.now();
    try {
      const facts = await raceTimeout(this.#options.load(id), LOAD_TIMEOUT_MS);
      const last = this.#entries.get(id)?.facts ?? null;
      const entry = { facts, asOfMs };
      if (this.#entries.size >= MAX_ENTRIES) this.#entries.clear();
      this.#entries.set(id, entry);
      const isChanged = JSON.stringify(facts) !== JSON.stringify(last);
      const storedAgoMs = asOfMs - (this.#storedAtMs.get(id) ?? -Infinity);
      if (isChanged || (facts !== null && storedAgoMs > STORE_INTERVAL_MS)) {
        this.#storedAtMs.set(id, asOfMs);
        this.#options.store(id, facts, asOfMs);
      }
      this.#isAway = false;
      return entry;
    } catch {
      this.#isAway = true;
      return undefined;
    }
  }
}

/** Reads the credentials that an earlier instance stored: id, facts, time of the check. */
export function readFacts(sql: Sql): [string, CredentialFacts, number][] {
  return sql
    .exec<{ id: string; facts: string; checked_at_ms: number }>("select id, facts, checked_at_ms from credentials")
    .toArray()
    .map(({ id, facts, checked_at_ms }) => [id, JSON.parse(facts) as CredentialFacts, checked_at_ms]);
}

/** Stores a credential's facts, or deletes them if the credential is no longer valid. */
export function storeFacts(sql: Sql, id: string, facts: CredentialFacts | null, checkedAtMs: number): void {
  if (facts === null) sql.exec("delete from credentials where id = ?", id);
  else
    sql.exec(
      "insert or replace into credentials (id, facts, checked_at_ms) values (?, ?, ?)",
      id,
      JSON.stringify(facts),
      checkedAtMs,
    );
}
