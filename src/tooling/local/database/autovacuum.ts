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

/**
 * Stands in for autovacuum, which PGlite lacks because it is a single process: without statistics, joins of a large index take
 * minutes instead of milliseconds. One table at a time, so that queries wait for one statement at most. Returns what stops it.
 */
export function startAutovacuum(acquire: () => Promise<Session>): () => void {
  const work = async () => {
    const session = await acquire();
    try {
      const { rows } = await session.query(MOST_OVERDUE, []);
      const statement = rows[0]?.[0];
      if (typeof statement === "string") await session.query(statement, []);
    } finally {
      session.release();
    }
  };
  const timer = setInterval(() => void work(), NAP_MS);
  return () => clearInterval(timer);
}
