import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import type { Metric } from "./openmetrics.ts";

/** Metrics of runs and erasures, from Postgres. */
export async function runMetrics(db: Db): Promise<Metric[]> {
  const open = await rowsOf<{ kind: string; state: string; count: number; age: number }>(
    db,
    sql`select kind, state, count(*)::int as count, extract(epoch from now() - min(created_at))::float8 as age
        from runs where state in ('queued', 'running') group by kind, state`,
  );
  const finished = await rowsOf<{ kind: string; state: string; code: string; count: number }>(
    db,
    sql`select kind, state, coalesce(error ->> 'code', '-') as code, count(*)::int as count
        from runs where finished_at > now() - interval '1 hour' group by 1, 2, 3`,
  );
  const [erasures] = await rowsOf<{ count: number }>(
    db,
    sql`select count(*)::int as count from erasures where finished_at is null`,
  );
  return [
    {
      name: "codecontext_runs",
      type: "gauge",
      help: "Runs that have not ended.",
      samples: open.map(({ kind, state, count }) => ({ labels: { kind, state }, value: count })),
    },
    {
      name: "codecontext_oldest_run_age_seconds",
      type: "gauge",
      help: "Age of the oldest run that has not ended.",
      samples: open.map(({ kind, state, age }) => ({ labels: { kind, state }, value: age })),
    },
    {
      name: "codecontext_runs_finished_last_hour",
      type: "gauge",
      help: "Runs that ended in the last hour, by state and error code.",
      samples: finished.map(({ kind, state, code, count }) => ({ labels: { kind, state, code }, value: count })),
    },
    {
      name: "codecontext_erasures_open",
      type: "gauge",
      help: "Erased tenants whose objects are still to be removed.",
      samples: [{ value: erasures?.count ?? 0 }],
    },
  ];
}
