/**
 * A database whose tables are large and whose statistics are old: one tenant has 10⁵ chunks, 10⁵ vectors and thousands of everything
 * else; a second one came after the last `analyze`, so that the planner believes it has no rows.
 */
import { neon } from "@neondatabase/serverless";

const CONTENTS = 10_000;
const LATER_CONTENTS = 2_000;
const EARLY_CONTENTS = 10;
/** Chunks of a content. */
export const CHUNKS = 10;
/** Rows of the first tenant in each of the small tables. */
const OTHERS = 10_000;

export interface LargeTenant {
  tenantId: string;
  /** With all of the tenant's contents in its current revision, 5, and the same in the others. */
  workspaceId: string;
  userId: string;
}

/** The n-th content of a tenant. */
const contentOf = (tenantId: string) => `md5('${tenantId}' || n)::uuid`;

/** Adds a tenant with `contents` contents in its current revision, and `others` rows in each of the small tables. */
export async function addTenant(
  run: (statement: string) => Promise<unknown>,
  contents: number,
  others: number,
): Promise<LargeTenant> {
  const tenantId = crypto.randomUUID();
  const workspaceId = crypto.randomUUID();
  const userId = crypto.randomUUID();
  const ids = (count: number) => `generate_series(1, ${count}) n`;
  await run(`insert into tenants (id, name, shared_index) values ('${tenantId}', 'large', true)`);
  await run(`insert into users (id, email) values ('${userId}', '${userId}@example.com')`);
  await run(
    `insert into users (id, email) select md5('${tenantId}u' || n)::uuid, md5('${tenantId}u' || n) || '@example.com' from ${ids(others)}`,
  );
  await run(`insert into memberships (tenant_id, user_id, role) values ('${tenantId}', '${userId}', 'owner')`);
  await run(`insert into sessions (token_hash, user_id, user_agent, expires_at)
    select sha256(('${tenantId}s' || n)::bytea), md5('${tenantId}u' || n)::uuid, '', now() + interval '9 days' from ${ids(others)}`);
  await run(`insert into credentials (id, tenant_id, kind, name, secret_hash)
    select '${tenantId}' || n, '${tenantId}', 'api_key', 'k', sha256(n::text::bytea) from ${ids(others / 10)}`);
  await run(`insert into credentials (id, tenant_id, kind, name, secret_hash, parent_id, expires_at, restrictions)
    values ('${tenantId}token', '${tenantId}', 'narrow_api_key', 't', sha256('t'), '${tenantId}1', now() + interval '1 hour', '{"monthlyCredits": 5}')`);
  await run(
    `insert into workspaces (id, tenant_id, repo, default_branch) values ('${workspaceId}', '${tenantId}', 'host/owner/large', 'main')`,
  );
  await run(
    `insert into workspaces (id, tenant_id, repo) select md5('${tenantId}w' || n)::uuid, '${tenantId}', 'host/owner/' || n from ${ids(others / 10)}`,
  );
  await run(
    `insert into repository_sources (workspace_id, clone_url) values ('${workspaceId}', 'https://host/owner/large')`,
  );
  await run(`insert into contents (id, tenant_id, sha256, language, parser_version, size_bytes, line_count, symbol_count, chunk_count, redacted_count, outcome, segment)
    select ${contentOf(tenantId)}, '${tenantId}', sha256(n::text::bytea), 'go', 1, 9, 9, 1, ${CHUNKS}, 0, 'syntax', 's' || n % 40 from ${ids(contents)}`);
  await run(`insert into chunks (content_id, ordinal, hash, context, text, start_line, end_line, start_byte, end_byte, withheld)
    select ${contentOf(tenantId)}, o, sha256((n || '.' || o)::bytea), '', 'x', 1, 1, 0, 1, false from ${ids(contents)}, generate_series(0, ${CHUNKS - 1}) o`);
  await run(`insert into symbols (content_id, ordinal, kind, name, qualified_name, signature, start_line, end_line, start_byte, end_byte)
    select ${contentOf(tenantId)}, 0, 'function', 'f', 'f', 'f()', 1, 1, 0, 1 from ${ids(contents)}`);
  await run(`insert into vectors (tenant_id, fingerprint, chunk_hash, vector, used_on)
    select '${tenantId}', 'f', sha256((n || '.' || o)::bytea), '\\x003c003c', current_date - 5 from ${ids(contents)}, generate_series(0, ${CHUNKS - 1}) o`);
  await run(`insert into texts (tenant_id, sha256, pack, ordinal, size_bytes, withheld_lines)
    select '${tenantId}', sha256(n::text::bytea), '1-p' || n % 40, n / 40, 9, 0 from ${ids(contents)}`);
  await run(`insert into git_blobs (tenant_id, oid, sha256, size_bytes, parser_version)
    select '${tenantId}', substring(sha256(n::text::bytea) for 20), sha256(n::text::bytea), 9, 1 from ${ids(contents)}`);
  await run(`insert into revisions (workspace_id, seq, run_id, git_sha, root_tree, plan_key, fingerprint, dimension, file_count, symbol_count, chunk_count, stats)
    select '${workspaceId}', n, gen_random_uuid(), 'c' || n, 't', 'p', 'f', 2, ${contents}, 1, 1, '{}' from ${ids(5)}`);
  await run(`update workspaces set current_seq = 5 where id = '${workspaceId}'`);
  await run(`insert into revision_refs (workspace_id, ref, seq) values ('${workspaceId}', 'refs/heads/main', 5)`);
  await run(`insert into revision_files (workspace_id, path, from_seq, content_id, git_oid, mode)
    select '${workspaceId}', 'src/' || n || '.go', 1, ${contentOf(tenantId)}, '', 33188 from ${ids(contents)}`);
  await run(
    `insert into revision_overlays (workspace_id, seq, path) select md5('${tenantId}w1')::uuid, 2, 'src/' || n || '.go' from ${ids(others)}`,
  );
  await run(`insert into runs (id, tenant_id, workspace_id, kind, state, request, created_at, finished_at)
    select md5('${tenantId}r' || n)::uuid, '${tenantId}', '${workspaceId}', 'index', 'succeeded', '{}', now() - n * interval '1 minute', now() from ${ids(others)}`);
  await run(`insert into audit_events (id, tenant_id, at, event, actor, dedupe_key, details)
    select md5('${tenantId}a' || n)::uuid, '${tenantId}', now() - n * interval '1 minute', 'X', case when n % 2 = 0 then 'user:${userId}' else 'a' end, n::text, '{}' from ${ids(others)}`);
  await run(`insert into snapshots (id, tenant_id, workspace_id, state, git_sha, storage_path, checksum, fingerprint, manifest, committed_at)
    select md5('${tenantId}p' || n)::uuid, '${tenantId}', md5('${tenantId}w' || n)::uuid, 'committed', 'c', '${tenantId}' || n, '', 'f', '{}', now() from ${ids(others / 10)}`);
  await run(
    `insert into hooks (id, tenant_id, workspace_id, provider, sealed_secret) values ('${tenantId}', '${tenantId}', '${workspaceId}', 'github', '')`,
  );
  await run(`insert into github_apps (id, tenant_id, origin, app_id, name, owner, page_url, sealed_secret)
    values ('${tenantId}', '${tenantId}', 'https://github.example', 1, 'a', 'o', '', '')`);
  await run(`insert into repository_sources (workspace_id, clone_url, app_id, installation_id, repository_id)
    select md5('${tenantId}w' || n)::uuid, 'https://github.example/o/' || n, '${tenantId}', n % 10, n from ${ids(others / 10)}`);
  // As many as a tenant may have alive, nearly.
  await run(`insert into overlays (id, tenant_id, workspace_id, credential_id, seq, edited_seq, state, expires_at)
    select md5('${tenantId}o' || n)::uuid, '${tenantId}', '${workspaceId}', 'k', -n, 5, 'ready', now() + n * interval '1 minute' from ${ids(400)}`);
  await run(`insert into hook_deliveries (hook_id, at, delivery_id, event, outcome)
    select '${tenantId}', now() - n * interval '1 minute', n::text, 'push', 'started' from ${ids(others)}`);
  await run(`insert into invitations (tenant_id, email, role, token_hash, expires_at, accepted_at)
    select '${tenantId}', n || '@example.com', 'member', sha256(('${tenantId}i' || n)::bytea), now(), now() from ${ids(others / 100)}`);
  await run(`insert into usage_days (tenant_id, day, credential_id, flush_seq, credits, tokens, calls)
    select '${tenantId}', current_date - n % 300, 'k' || n / 300, 1, 1, 1, 1 from ${ids(others)}`);
  return { tenantId, workspaceId, userId };
}

/** What the statistics know: the first contents of the service, or the whole of one large tenant. */
export type Statistics = "early" | "later";

/** Fills a migrated database. The planner knows the first of the tenants only with later statistics, and never the second. */
export async function fillLarge(
  url: string,
  statistics: Statistics,
): Promise<[first: LargeTenant, second: LargeTenant]> {
  const sql = neon(url);
  const add = async (contents: number, others: number) => {
    // Foreign keys are not checked: half of the time, for rows that are known to be right.
    const statements = ["set local session_replication_role = replica"];
    const tenant = await addTenant(async (statement) => statements.push(statement), contents, others);
    await sql.transaction(statements.map((statement) => sql.query(statement)));
    return tenant;
  };
  if (statistics === "early") {
    await add(EARLY_CONTENTS, EARLY_CONTENTS * 10);
    await sql.query("vacuum analyze");
  }
  const first = await add(CONTENTS, OTHERS);
  if (statistics === "later") await sql.query("vacuum analyze");
  return [first, await add(LATER_CONTENTS, OTHERS / 5)];
}
