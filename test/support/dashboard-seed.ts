/** Fills a tenant with what a busy team would have, for screenshots and for measurements of pages. */
import { sql } from "drizzle-orm";
import type { Db } from "../../src/service/db/client.ts";

export interface SeedSize {
  workspaces: number;
  runs: number;
  auditEvents: number;
  /** Days of usage, the last of them today. */
  days: number;
}

const NAMES = [
  "api",
  "web",
  "billing",
  "search",
  "docs",
  "mobile",
  "infra",
  "worker",
  "design-system",
  "sdk-go",
  "sdk-python",
];

/** Inserts repositories with indexes and runs, usage by day and key, and audit events. `actor` acted in them. */
export async function seedDashboard(db: Db, tenantId: string, actor: string, size: SeedSize): Promise<void> {
  await db.execute(sql`
    insert into workspaces (id, tenant_id, repo, default_branch, created_at)
    select gen_random_uuid(), ${tenantId}, 'github.com/acme/' || (${sql.param(NAMES)}::text[])[1 + (i - 1) % ${NAMES.length}::int]
        || case when i > ${NAMES.length} then '-' || i else '' end,
      'main', now() - make_interval(hours => i * 7)
    from generate_series(1, ${size.workspaces}::int) i`);
  await db.execute(sql`
    insert into revisions (workspace_id, seq, run_id, git_sha, root_tree, plan_key, fingerprint, dimension, file_count,
      symbol_count, chunk_count, stats, created_at)
    select id, 1, gen_random_uuid(), encode(sha256(id::text::bytea), 'hex')::char(40), '', '', 'seed', 256,
      100 + (row_number() over ()) * 37, 900 + (row_number() over ()) * 411, 1200 + (row_number() over ()) * 530, '{}',
      now() - make_interval(mins => (row_number() over ())::int * 17)
    from workspaces where tenant_id = ${tenantId}`);
  await db.execute(sql`update workspaces set current_seq = 1 where tenant_id = ${tenantId}`);
  await db.execute(sql`
    insert into repository_sources (workspace_id, clone_url) select id, 'https://' || repo from workspaces where tenant_id = ${tenantId}`);
  for (const [from, to] of batches(0, size.runs - 1))
    await db.execute(sql`
    with numbered as (select id, row_number() over (order by created_at desc) - 1 as n from workspaces where tenant_id = ${tenantId})
    insert into runs (id, tenant_id, workspace_id, kind, state, request, result, error, created_at, finished_at)
    select gen_random_uuid(), ${tenantId}, id, 'index', case when i % 9 = 5 then 'failed' else 'succeeded' end,
      json_build_object('ref', case when i % 4 = 3 then 'release/2.x' end),
      case when i % 9 = 5 then null else json_build_object('gitSha', encode(sha256(i::text::bytea), 'hex')::char(40),
        'fileCount', 800 + i % 90, 'embeddedCount', i % 40, 'skippedUnchanged', 790) end,
      case when i % 9 = 5 then json_build_object('code', 'CLONE_FAILED', 'error', 'the host refused the read token: give it read access to this repository') end,
      now() - make_interval(mins => i * 31), now() - make_interval(mins => i * 31) + make_interval(secs => 3 + i % 25)
    from generate_series(${from}::int, ${to}::int) i join numbered on n = i % ${size.workspaces}::int`);
  await db.execute(sql`
    insert into usage_days (tenant_id, day, credential_id, flush_seq, credits, tokens, calls)
    select ${tenantId}, current_date - d, id, 1, credits, credits * 870, credits * 3
    from generate_series(0, ${size.days}::int - 1) d,
      lateral (select id, (30 + 40 * abs(sin(d + length(name))) + case when extract(dow from current_date - d) in (0, 6) then -28 else 45 end)::int as credits
        from credentials where tenant_id = ${tenantId} and kind = 'api_key') k
    on conflict do nothing`);
  await db.execute(sql`
    insert into usage_months (tenant_id, period, flush_seq, credits, embed_tokens, rerank_tokens, index_tokens, calls)
    select ${tenantId}, to_char(now() at time zone 'utc', 'YYYY-MM'), 1, sum(credits), sum(tokens) * 0.8, sum(tokens) * 0.2, 48213900,
      json_build_object('embed', sum(calls) / 2, 'rerank', sum(calls) / 10, 'search', sum(calls) / 3, 'index', 80)
    from usage_days where tenant_id = ${tenantId} and day >= date_trunc('month', now() at time zone 'utc') having count(*) > 0
    on conflict do nothing`);
  const events = [
    "KEY_CREATED",
    "RATE_LIMITED",
    "WORKSPACE_CREATED",
    "TENANT_CHANGED",
    "MEMBER_JOINED",
    "INDEX_RUN_FAILED",
  ];
  for (const [from, to] of batches(1, size.auditEvents))
    await db.execute(sql`
    insert into audit_events (id, tenant_id, at, event, actor, dedupe_key, details)
    select gen_random_uuid(), ${tenantId}, now() - make_interval(secs => 300 + i * 97),
      (${sql.param(events)}::text[])[1 + i % ${events.length}::int], case when i % 3 = 0 then 'system' else ${actor} end, 'seed:' || i,
      json_build_object('name', 'laptop ' || i % 7)
    from generate_series(${from}::int, ${to}::int) i`);
}

/** Rows of a statement: the embedded database answers nobody else meanwhile. */
const BATCH = 1_000;

function* batches(first: number, last: number): Generator<[from: number, to: number]> {
  for (let from = first; from <= last; from += BATCH) yield [from, Math.min(last, from + BATCH - 1)];
}
