/**
 * The tenant gate's rows in its Durable Object's SQLite. Changes gather until `commit` writes them; a row that changed
 * several times until then is written once, as it is at that moment. Nothing is created before the first commit.
 */
import type { DirectoryState } from "./directory.ts";
import { callsFrom, type LedgerStore, type Month, type Reservation, SETTLED_KEPT_MS } from "./credits.ts";
import type { RateWindow } from "./windows.ts";
import type { Surface } from "../contract/surfaces.ts";

/** The part of a Durable Object's `SqlStorage` that is used. */
export interface Sql {
  exec<T extends Record<string, ArrayBuffer | string | number | null>>(
    query: string,
    ...bindings: (ArrayBuffer | string | number | null)[]
  ): { toArray(): T[] };
}

/** A window of a surface with what the audit log is to know of it. */
export interface SurfaceWindow extends RateWindow {
  surface: Surface;
  /** Requests turned away. */
  rejected: number;
  /** Rejections that the audit log has. */
  reported: number;
  /** Credential that was turned away first. */
  actor: string;
}

export interface StoredGate {
  tenantId: string | undefined;
  directory: DirectoryState | undefined;
  windows: SurfaceWindow[];
  months: Month[];
  reservations: Reservation[];
  /** Unix time in milliseconds since which the database has had no such tenant. */
  goneSinceMs: number | undefined;
}

const SCHEMA = `
create table meta (key text primary key, value text not null) without rowid;
create table windows (
  surface text not null, start_ms integer not null, window_sec integer not null, used integer not null,
  rejected integer not null, reported integer not null, actor text not null, primary key (surface, start_ms)
) without rowid;
create table months (
  period text primary key, version integer not null, flushed_version integer not null, seeded integer not null,
  credits integer not null, embed_tokens integer not null, rerank_tokens integer not null, index_tokens integer not null,
  calls text not null
) without rowid;
create table reservations (
  id text primary key, period text not null, credits integer not null, deadline_ms integer not null,
  state text not null, charged integer not null
) without rowid;
create table settled (until_ms integer not null, ids text not null);
create table counted (day integer not null, key text not null, primary key (day, key)) without rowid;
`;

/** Id, period, deadline and credits charged. */
type SettledReservation = [string, string, number, number];

const DAY_MS = 24 * 60 * 60_000;
/** Days, besides the current one, that a counted key is remembered. */
const COUNTED_DAYS = 2;

export class GateStore implements LedgerStore {
  readonly #sql: Sql;
  #created: boolean;
  /** What to write, by table and key: only the newest state of a row counts. */
  readonly #pending = new Map<string, () => void>();
  /** Reservations that changed. Most are settled by the time they are written, and then need no row of their own. */
  readonly #changed = new Map<string, Readonly<Reservation> | undefined>();
  /** Ids of the reservations that have a row. */
  readonly #rows = new Set<string>();

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#created = sql.exec("select 1 from sqlite_master where name = 'meta'").toArray().length > 0;
  }

  /** Whether nothing was ever written. */
  get isEmpty(): boolean {
    return !this.#created && !this.isDirty;
  }

  /** Whether there are changes to commit. */
  get isDirty(): boolean {
    return this.#pending.size > 0 || this.#changed.size > 0;
  }

  /** Writes what has gathered. To be run in one transaction. */
  commit(): void {
    if (!this.isDirty) return;
    if (!this.#created) this.#sql.exec(SCHEMA);
    for (const write of this.#pending.values()) write();
    this.#pending.clear();
    this.#commitReservations();
    this.#changed.clear();
    this.#created = true;
  }

  /** To be called when the object's storage was deleted. */
  reset(): void {
    this.#created = false;
    this.#rows.clear();
  }

  load(): StoredGate {
    const gate: StoredGate = {
      tenantId: undefined,
      directory: undefined,
      windows: [],
      months: [],
      reservations: [],
      goneSinceMs: undefined,
    };
    if (!this.#created) return gate;
    for (const { key, value } of this.#sql.exec<{ key: string; value: string }>("select * from meta").toArray()) {
      if (key === "tenant") gate.tenantId = value;
      if (key === "directory") gate.directory = JSON.parse(value) as DirectoryState;
      if (key === "gone_since") gate.goneSinceMs = Number(value);
    }
    gate.windows = this.#sql
      .exec<SurfaceWindow & Record<string, string | number>>(
        `select surface, start_ms as startMs, window_sec as windowSec, used, rejected, reported, actor
         from windows order by start_ms`,
      )
      .toArray();
    gate.months = this.#sql
      .exec<Omit<Month, "seeded" | "calls"> & { seeded: number; calls: string }>(
        `select period, version, flushed_version as flushedVersion, seeded, credits, embed_tokens as embedTokens,
         rerank_tokens as rerankTokens, index_tokens as indexTokens, calls from months`,
      )
      .toArray()
      .map((row) => {
        const calls = JSON.parse(row.calls) as Record<string, number>;
        return Object.assign(row, { seeded: row.seeded === 1, calls: callsFrom((kind) => calls[kind] ?? 0) });
      });
    const rows = this.#sql
      .exec<Reservation & Record<string, string | number>>(
        "select id, period, credits, deadline_ms as deadlineMs, state, charged from reservations",
      )
      .toArray();
    for (const { id } of rows) this.#rows.add(id);
    const settled = this.#sql
      .exec<{ ids: string }>("select ids from settled")
      .toArray()
      .flatMap(({ ids }) => JSON.parse(ids) as SettledReservation[])
      .map(([id, period, deadlineMs, charged]): Reservation => {
        return { id, period, credits: 0, deadlineMs, state: "settled", charged };
      });
    gate.reservations = [...rows, ...settled];
    return gate;
  }

  saveMeta(key: "tenant" | "directory" | "gone_since", value: string): void {
    this.#write(`meta ${key}`, "insert or replace into meta values (?, ?)", () => [key, value]);
  }

  dropMeta(key: "gone_since"): void {
    this.#write(`meta ${key}`, "delete from meta where key = ?", () => [key]);
  }

  saveWindow(row: Readonly<SurfaceWindow>): void {
    this.#write(
      `window ${row.surface} ${row.startMs}`,
      "insert or replace into windows values (?, ?, ?, ?, ?, ?, ?)",
      () => [row.surface, row.startMs, row.windowSec, row.used, row.rejected, row.reported, row.actor],
    );
  }

  dropWindow({ surface, startMs }: Pick<SurfaceWindow, "surface" | "startMs">): void {
    const query = "delete from windows where surface = ? and start_ms = ?";
    this.#write(`window ${surface} ${startMs}`, query, () => [surface, startMs]);
  }

  saveMonth(month: Readonly<Month>): void {
    this.#write(`month ${month.period}`, "insert or replace into months values (?, ?, ?, ?, ?, ?, ?, ?, ?)", () => [
      month.period,
      month.version,
      month.flushedVersion,
      month.seeded ? 1 : 0,
      month.credits,
      month.embedTokens,
      month.rerankTokens,
      month.indexTokens,
      JSON.stringify(month.calls),
    ]);
  }

  dropMonth(period: string): void {
    this.#write(`month ${period}`, "delete from months where period = ?", () => [period]);
  }

  saveReservation(row: Readonly<Reservation>): void {
    this.#changed.set(row.id, row);
  }

  /** A settled reservation goes with all that were settled in the same commit; see `pruneSettled`. */
  dropReservation(id: string): void {
    if (this.#rows.has(id)) this.#changed.set(id, undefined);
    else this.#changed.delete(id);
  }

  /** Drops settled reservations that the ledger has forgotten. */
  pruneSettled(nowMs: number): void {
    if (!this.#created) return;
    this.#write("settled", "delete from settled where until_ms < ?", () => [nowMs]);
  }

  #commitReservations(): void {
    const settled: SettledReservation[] = [];
    let untilMs = 0;
    for (const [id, row] of this.#changed) {
      if (row && row.state !== "settled") {
        const { period, credits, deadlineMs, state, charged } = row;
        const query = "insert or replace into reservations values (?, ?, ?, ?, ?, ?)";
        this.#sql.exec(query, id, period, credits, deadlineMs, state, charged);
        this.#rows.add(id);
        continue;
      }
      if (row) {
        settled.push([id, row.period, row.deadlineMs, row.charged]);
        untilMs = Math.max(untilMs, row.deadlineMs + SETTLED_KEPT_MS);
      }
      if (this.#rows.delete(id)) this.#sql.exec("delete from reservations where id = ?", id);
    }
    if (settled.length > 0) this.#sql.exec("insert into settled values (?, ?)", untilMs, JSON.stringify(settled));
  }

  /** Notes a counted key; false when it was noted within the last two days. */
  noteCounted(key: string, nowMs: number): boolean {
    const day = Math.floor(nowMs / DAY_MS);
    const days = Array.from({ length: COUNTED_DAYS + 1 }, (_, back) => day - back);
    if (days.some((past) => this.#pending.has(`counted ${past} ${key}`))) return false;
    const marks = days.map(() => "?").join(", ");
    const noted = `select 1 from counted where key = ? and day in (${marks})`;
    if (this.#created && this.#sql.exec(noted, key, ...days).toArray().length > 0) return false;
    this.#write(`counted ${day} ${key}`, "insert into counted values (?, ?)", () => [day, key]);
    return true;
  }

  pruneCounted(nowMs: number): void {
    if (!this.#created) return;
    const oldest = Math.floor(nowMs / DAY_MS) - COUNTED_DAYS;
    this.#write("counted", "delete from counted where day < ?", () => [oldest]);
  }

  /** Gathers a write; `bindings` are read when it is carried out. */
  #write(row: string, query: string, bindings: () => (string | number)[]): void {
    this.#pending.set(row, () => this.#sql.exec(query, ...bindings()));
  }
}
