/** Usage of each credential of a tenant by UTC day: calls, credits, tokens and time of last use. */
import type { Sql } from "./types.ts";

export const KEY_USAGE_SCHEMA = `
create table key_days (
  credential_id text not null, day text not null, calls integer not null, credits integer not null,
  tokens integer not null, last_used_ms integer not null, version integer not null, flushed_version integer not null,
  primary key (credential_id, day)
) without rowid;
`;

/** A day is kept for as long as a settlement may still add to it. */
const KEPT_MS = 3 * 24 * 60 * 60_000;

/** Absolute figures of one credential and day. */
export interface KeyDay {
  credentialId: string;
  /** `YYYY-MM-DD`. */
  day: string;
  /** Requests admitted, on all surfaces. */
  calls: number;
  credits: number;
  tokens: number;
  /** Unix time in milliseconds. */
  lastUsedMs: number;
  version: number;
}

export class KeyUsage {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Adds to the credential's figures for the day of `nowMs`. Returns whether these are the first of that day. */
  add(
    credentialId: string,
    { calls = 0, credits = 0, tokens = 0 }: Partial<Pick<KeyDay, "calls" | "credits" | "tokens">>,
    nowMs: number,
  ): boolean {
    const [row] = this.#sql
      .exec<{ version: number }>(
        `insert into key_days (credential_id, day, calls, credits, tokens, last_used_ms, version, flushed_version)
         values (?, ?, ?, ?, ?, ?, 1, 0) on conflict do update set calls = calls + excluded.calls,
         credits = credits + excluded.credits, tokens = tokens + excluded.tokens,
         last_used_ms = max(last_used_ms, excluded.last_used_ms), version = version + 1 returning version`,
        credentialId,
        new Date(nowMs).toISOString().slice(0, 10),
        calls,
        credits,
        tokens,
        nowMs,
      )
      .toArray();
    return row?.version === 1;
  }

  unflushed(): KeyDay[] {
    return this.#sql
      .exec<KeyDay & Record<string, string | number>>(
        `select credential_id as credentialId, day, calls, credits, tokens, last_used_ms as lastUsedMs, version
         from key_days where version > flushed_version`,
      )
      .toArray();
  }

  /** Marks these figures as flushed. */
  flushed(days: readonly KeyDay[]): void {
    for (const { credentialId, day, version } of days) {
      const update =
        "update key_days set flushed_version = max(flushed_version, ?) where credential_id = ? and day = ?";
      this.#sql.exec(update, version, credentialId, day);
    }
  }

  prune(nowMs: number): void {
    this.#sql.exec("delete from key_days where last_used_ms < ? and version = flushed_version", nowMs - KEPT_MS);
  }
}
