/** Postgres' own full-text search over the same chunks in the same database. */
import { sql } from "drizzle-orm";
import { type Db, openDb } from "../../src/service/db/client.ts";
import { arrayOf } from "../../src/service/db/arrays.ts";
import { rowsOf } from "../../src/service/db/rows.ts";
import type { RunningService } from "../../src/tooling/local/stack/service.ts";
import { quantile } from "../retrieval/metrics.ts";

const PAGE = 500;
const MAX_WORDS = 100;

/** Prints latencies of the statement alone, for one client. */
export async function benchTsRank(
  { service }: RunningService,
  workspaceId: string,
  { shorts, issues }: { shorts: readonly string[]; issues: readonly string[] },
): Promise<void> {
  const db = openDb(service.databaseUrl);
  await fill(db, workspaceId);
  for (const [label, queries] of [
    ["short queries", shorts],
    ["issue texts", issues],
  ] as const) {
    const ms: number[] = [];
    for (let round = 0; round < 2; round++) {
      for (const query of queries.slice(0, 60)) {
        const words = [...new Set(query.toLowerCase().match(/[a-z][a-z0-9_]{2,30}/g) ?? [])].slice(0, MAX_WORDS);
        const startedAt = performance.now();
        await rowsOf(
          db,
          sql`select content_id, ordinal from bench_ts, to_tsquery('english', ${words.join(" | ")}) q
              where words @@ q order by ts_rank(words, q) desc limit 10`,
        );
        if (round === 1) ms.push(performance.now() - startedAt);
      }
    }
    const figures = [0.5, 0.95].map((q) => `p${q * 100} ${quantile(ms, q).toFixed(1)} ms`).join(", ");
    console.log(`ts_rank, one copy, ${label}  ${figures}`);
  }
}

async function fill(db: Db, workspaceId: string): Promise<void> {
  await db.execute(sql`create table if not exists bench_ts (content_id uuid, ordinal int, words tsvector)`);
  const [row] = await rowsOf<{ count: number }>(db, sql`select count(*)::int as count from bench_ts`);
  if (row && row.count > 0) return;
  const contents = await rowsOf<{ id: string }>(
    db,
    sql`select distinct content_id as id from revision_files where workspace_id = ${workspaceId} and to_seq is null`,
  );
  for (let from = 0; from < contents.length; from += PAGE) {
    const ids = contents.slice(from, from + PAGE).map(({ id }) => id);
    await db.execute(
      sql`insert into bench_ts select content_id, ordinal, to_tsvector('english', left(text, 100000)) from chunks where content_id = any(${arrayOf(ids, "uuid")})`,
    );
  }
  await db.execute(sql`create index bench_ts_words on bench_ts using gin (words)`);
  await db.execute(sql`analyze bench_ts`);
}
