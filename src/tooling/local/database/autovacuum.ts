import type { Session } from "./neon-endpoint.ts";

/** Shorter than PostgreSQL's minute: a first index writes most of its rows within seconds, and its next statements need statistics. */
const NAP_MS = 2_000;

/**
 * The table that is most overdue, by PostgreSQL's default thresholds: 50 rows and 10 % changed for its statistics, 50 rows and 20 %
 * dead for its space (https://www.postgresql.org/docs/17/routine-vacuuming.html#AUTOVACUUM).
 */
const MOST_OVERDUE = `
  select format(case when dead > 1 then 'vacuum (analyze) %s' else 'analyze %s' end, name) from (
    select s.relid::regclass as name,
      s.n_mod_since_analyze / (50 + 0.1 * greatest(c.reltuples, 0)) as changed,
      s.n_dead_tup / (50 + 0.2 * greatest(c.reltuples, 0)) as dead
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
  ) tables where greatest(changed, dead) > 1 order by greatest(changed, dead) desc limit 1`;

/** Looks after the last statement of others: PostgreSQL counts changes up to a second later. */
const LOOKS_WHEN_IDLE = 3;

/**
 * Stands in for autovacuum, which PGlite lacks because it is a single process: without statistics, joins of a large index take
 * minutes instead of milliseconds. One table at a time, so that queries wait for one statement at most. `acquire` opens a session of its
 * own, `sessions` counts those of others: an idle database is left alone. Returns what stops it.
 */
export function startAutovacuum(acquire: () => Promise<Session>, sessions: () => number): () => void {
  let isStopped = false;
  let timer: NodeJS.Timeout;
  let [seen, looks] = [-1, 0];
  const look = async (): Promise<void> => {
    const session = await acquire();
    try {
      if (isStopped) return;
      const { rows } = await session.query(MOST_OVERDUE, []);
      const statement = rows[0]?.[0];
      if (typeof statement !== "string") return;
      await session.query(statement, []);
      // Further tables may be overdue.
      looks = 0;
    } finally {
      session.release();
    }
  };
  const nap = (): void => {
    timer = setTimeout(() => {
      if (sessions() !== seen) [seen, looks] = [sessions(), 0];
      if (looks++ >= LOOKS_WHEN_IDLE) return nap();
      look()
        .catch((error: unknown) =>
          console.error(`autovacuum: ${error instanceof Error ? error.message : String(error)}`),
        )
        .finally(() => isStopped || nap());
    }, NAP_MS);
  };
  nap();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
