/**
 * Mail to the owners of teams: the quota runs out, a run that a push hook started has failed, a later one has succeeded. What happened is
 * in the tables of usage and runs; a schedule looks for what the owners were not told yet, and one statement records that and inserts the
 * messages into the outbox. So no request can lose a message, and schedules that overlap queue it once.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { visible } from "../../lib/display.ts";
import { quotaMail, runMail } from "./messages.ts";
import { mailInsert, type QueuedMail, sealMail } from "./outbox.ts";
import type { Mail } from "./types.ts";

/** Notices of each kind in a round; the next round follows within a minute. */
const BATCH = 50;
/** Owners who get a message. */
const MAX_OWNERS = 20;
/** A run that failed longer ago is not reported: a service that was down for days must not send old news. */
const NEWS_HOURS = 24;
/** Later runs of a workspace among which one that succeeded is looked for. */
const MAX_LATER = 200;
const WARN_PERCENT = 80;
const USEFUL_SEC = 3 * 86_400;
const MAX_REASON_CHARACTERS = 300;
/** Months for which it is recorded that the quota ran out. */
const KEPT_DAYS = 70;

export interface NoticeDeps {
  db: Db;
  encryptionKey: string;
  /** Public address of the site, for links; undefined if none is configured. */
  siteUrl: string | undefined;
  now: () => number;
}

interface Team {
  tenantId: string;
  team: string;
  slug: string;
  /** Whether the team wants messages of this kind. */
  wanted: boolean;
  owners: string[];
  /** See `notices.subject`. */
  subject: string;
}

/** Queues the messages that are due; returns the number of notices. Throws database errors. */
export async function queueNotices(deps: NoticeDeps): Promise<number> {
  return (await queueQuota(deps)) + (await queueFailures(deps)) + (await queueRecoveries(deps));
}

const TEAM = sql`t.id as "tenantId", t.name as team, t.slug`;
const OWNERS = sql`(
  select coalesce(json_agg(email), '[]') from (
    select u.email from memberships m join users u on u.id = m.user_id
    where m.tenant_id = t.id and m.role = 'owner' order by m.created_at limit ${MAX_OWNERS}) o) as owners`;

async function queueQuota(deps: NoticeDeps): Promise<number> {
  const now = new Date(deps.now());
  const period = now.toISOString().slice(0, 7);
  const due = await rowsOf<Team & { credits: number; limit: number }>(
    deps.db,
    sql`
      select ${TEAM}, t.mail_quota as wanted, ${OWNERS}, d.subject, d.credits::float8 as credits, t.monthly_credits as limit
      from (
        select m.tenant_id, m.credits, l.monthly_credits,
          'quota:' || m.period || ':' || case when m.credits >= l.monthly_credits then 100 else ${WARN_PERCENT}::int end as subject
        from usage_months m join tenants l on l.id = m.tenant_id
        where m.period = ${period} and l.monthly_credits > 0 and m.credits * 100 >= l.monthly_credits::bigint * ${WARN_PERCENT}::int) d
      join tenants t on t.id = d.tenant_id
      where not exists (select 1 from notices n where n.tenant_id = d.tenant_id and n.subject = d.subject)
      limit ${BATCH}`,
  );
  const end = DAYS.format(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  for (const { credits, limit, ...team } of due) {
    const more = { team: visible(team.team), credits, limit, end, ...linkTo(deps, team, "usage") };
    await tell(deps, team, "quota", noticeInsert(team), (to) => quotaMail(to, more));
  }
  return due.length;
}

const DAYS = new Intl.DateTimeFormat("en", { day: "numeric", month: "long", timeZone: "UTC" });

interface RunNotice extends Team {
  runId: string;
  workspaceId: string;
  repo: string;
  branch: string;
}

/** Columns of a {@link RunNotice} for a run `r` of the workspace `w` of the tenant `t`. */
const RUN = sql`${TEAM}, t.mail_runs as wanted, ${OWNERS}, r.id as "runId", w.id as "workspaceId", coalesce(w.repo, w.id::text) as repo,
  coalesce(r.request ->> 'ref', w.default_branch, 'the default branch') as branch`;

/** Whether the workspace `w` has a successful run of the same kind and branch after the run `r`. */
const SUCCEEDED_LATER = sql`exists (
  select 1 from (
    select state, kind, request from runs where workspace_id = r.workspace_id and created_at > r.created_at
    order by created_at desc limit ${MAX_LATER}) l
  where l.state = 'succeeded' and l.kind = r.kind
    and coalesce(l.request ->> 'ref', w.default_branch) is not distinct from coalesce(r.request ->> 'ref', w.default_branch))`;

async function queueFailures(deps: NoticeDeps): Promise<number> {
  const due = await rowsOf<RunNotice & { reason: string | null }>(
    deps.db,
    sql`
      with failed as materialized (
        select * from runs where state = 'failed' and finished_at > now() - make_interval(hours => ${NEWS_HOURS})
          and request ->> 'actor' like 'hook:%'
      )
      select distinct on (subject) * from (
        select ${RUN}, r.error ->> 'error' as reason, r.finished_at,
          'run:' || w.id || ':' || md5(coalesce(r.request ->> 'ref', w.default_branch, '')) as subject
        from failed r join workspaces w on w.id = r.workspace_id join tenants t on t.id = r.tenant_id
        where not ${SUCCEEDED_LATER}) d
      where not exists (select 1 from notices n where n.tenant_id = d."tenantId" and n.subject = d.subject)
      order by subject, finished_at desc limit ${BATCH}`,
  );
  for (const { reason, ...run } of due) {
    const more = { ...namesOf(run), reason: sentence(reason), ...linkTo(deps, run, `runs/${run.runId}`) };
    await tell(deps, run, "run", noticeInsert(run, run.runId), (to) => runMail(to, more));
  }
  return due.length;
}

async function queueRecoveries(deps: NoticeDeps): Promise<number> {
  const due = await rowsOf<RunNotice>(
    deps.db,
    sql`
      with failing as materialized (select tenant_id, subject, run_id from notices where run_id is not null)
      select ${RUN}, n.subject
      from failing n
        -- Limits keep each look-up by its key: a planner that does not know how few branches fail would read all runs.
        cross join lateral (select * from runs where id = n.run_id limit 1) r
        cross join lateral (select * from workspaces where id = r.workspace_id limit 1) w
        cross join lateral (select * from tenants where id = n.tenant_id limit 1) t
      where ${SUCCEEDED_LATER} limit ${BATCH}`,
  );
  for (const run of due) {
    const { tenantId, subject, workspaceId, runId } = run;
    const ended = sql`delete from notices where tenant_id = ${tenantId} and subject = ${subject} and run_id = ${runId} returning tenant_id`;
    const more = { ...namesOf(run), ...linkTo(deps, run, `repositories/${workspaceId}`) };
    await tell(deps, run, "run", ended, (to) => runMail(to, more));
  }
  return due.length;
}

const noticeInsert = ({ tenantId, subject }: Team, runId: string | null = null): SQL => sql`
  insert into notices (tenant_id, subject, run_id) values (${tenantId}, ${subject}, ${runId}::uuid)
  on conflict do nothing returning tenant_id`;

/** Records a notice, and queues its messages if the record is new. */
async function tell(
  { db, encryptionKey }: NoticeDeps,
  { tenantId, wanted, owners }: Team,
  kind: QueuedMail["kind"],
  record: SQL,
  compose: (to: string) => Mail,
): Promise<void> {
  const mails = await Promise.all(
    (wanted ? owners : []).map((to) => sealMail(encryptionKey, compose(to), { kind, usefulSec: USEFUL_SEC })),
  );
  const inserts = mails.map(
    (mail, n) => sql`, ${sql.raw(`mail${n}`)} as (${mailInsert(mail, { tenantId, source: sql`told` })})`,
  );
  await db.execute(sql`with told as (${record})${sql.join(inserts, sql``)} select 1 from told`);
}

function namesOf({ team, repo, branch }: RunNotice) {
  return { team: visible(team), repo: visible(repo), branch: visible(branch) };
}

function linkTo({ siteUrl }: NoticeDeps, { slug }: Team, page: string): { url?: string } {
  return siteUrl === undefined ? {} : { url: `${siteUrl}/app/${slug}/${page}` };
}

/** A run's error as a sentence of limited length. */
function sentence(reason: string | null): string {
  const text = visible((reason ?? "the run ended without a reason").slice(0, MAX_REASON_CHARACTERS)).trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Deletes records of past months. Part of the daily clean-up. */
export async function sweepNotices(db: Db): Promise<void> {
  await db.execute(
    sql`delete from notices where run_id is null and created_at < now() - make_interval(days => ${KEPT_DAYS})`,
  );
}
