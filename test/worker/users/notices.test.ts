import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { changeTenant } from "../../../src/service/dashboard/tenant.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { unseal } from "../../../src/lib/seal.ts";
import { queueNotices, sweepNotices } from "../../../src/service/mail/notices.ts";
import { mailPurpose } from "../../../src/service/mail/outbox.ts";
import { eraseTenant } from "../../../src/service/tenancy/erase.ts";
import { db } from "../support/tenants.ts";
import { KEY, team } from "./people.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const queue = () => queueNotices({ db, encryptionKey: KEY, siteUrl: "https://code.example", now: () => NOW });

/** Messages of a tenant, in the order of their subjects. */
async function mailsOf(tenantId: string): Promise<{ to: string; subject: string; text: string }[]> {
  const rows = await rowsOf<{ id: string; sealed: string }>(
    db,
    sql`select id, sealed from mails where tenant_id = ${tenantId}`,
  );
  const mails = await Promise.all(
    rows.map(async ({ id, sealed }) => JSON.parse(await unseal(KEY, mailPurpose(id), sealed))),
  );
  return mails.toSorted((a, b) => a.subject.localeCompare(b.subject));
}

async function use(tenantId: string, credits: number, period = "2026-11"): Promise<void> {
  await db.execute(sql`update tenants set monthly_credits = 1000 where id = ${tenantId}`);
  await db.execute(sql`
    insert into usage_months (tenant_id, period, flush_seq, credits, embed_tokens, rerank_tokens, index_tokens, calls)
    values (${tenantId}, ${period}, 1, ${credits}, 0, 0, 0, '{}')
    on conflict (tenant_id, period) do update set credits = excluded.credits`);
}

it("tell owners once a month that 80 % and that all of the quota are used, however many schedules run at once", async () => {
  const { tenantId, people } = await team("owner", "admin");
  await use(tenantId, 799);
  await use(tenantId, 5_000, "2026-10");
  await queue();
  expect(await mailsOf(tenantId)).toEqual([]);
  await use(tenantId, 800);
  await Promise.all(Array.from({ length: 8 }, queue));
  expect(await mailsOf(tenantId)).toMatchObject([
    { to: people.owner.email, subject: expect.stringContaining("80 % of this month") },
  ]);
  await use(tenantId, 1_000);
  await Promise.all(Array.from({ length: 8 }, queue));
  await queue();
  const mails = await mailsOf(tenantId);
  expect(mails.map(({ subject }) => subject)).toEqual([
    expect.stringContaining("80 %"),
    expect.stringContaining("used up"),
  ]);
  expect(mails[1]?.text).toContain("1,000 of 1,000 credits");
  expect(mails[1]?.text).toContain("until December 1 (UTC)");
  expect(mails[1]?.text).toMatch(/https:\/\/code\.example\/app\/[\w-]+\/usage/);
  // Between the two again, as after the quota was raised.
  await use(tenantId, 900);
  await queue();
  expect(await mailsOf(tenantId)).toHaveLength(2);
});

it("say at once that the quota is used up if both limits are passed between two rounds", async () => {
  const { tenantId } = await team("owner");
  await use(tenantId, 1_200);
  await queue();
  await queue();
  expect(await mailsOf(tenantId)).toMatchObject([{ subject: expect.stringContaining("used up") }]);
});

interface Run {
  state: string;
  actor?: string;
  ref?: string | null;
  minutesAgo: number;
}

async function workspaceOf(tenantId: string): Promise<string> {
  const id = crypto.randomUUID();
  await db.execute(
    sql`insert into workspaces (id, tenant_id, repo, default_branch) values (${id}, ${tenantId}, ${`h/o/${id}`}, 'main')`,
  );
  return id;
}

async function run(tenantId: string, workspaceId: string, { state, actor = "hook:1", ref = "main", minutesAgo }: Run) {
  const request = JSON.stringify({ ref, actor });
  const error = state === "failed" ? JSON.stringify({ code: "GIT_AUTH", error: "the host refused the token" }) : null;
  await db.execute(sql`
    insert into runs (id, tenant_id, workspace_id, kind, state, request, error, created_at, finished_at)
    values (gen_random_uuid(), ${tenantId}, ${workspaceId}, 'index', ${state}, ${request}::jsonb, ${error}::jsonb,
      now() - make_interval(mins => ${minutesAgo}), now() - make_interval(mins => ${minutesAgo}))`);
}

it("tell owners once that runs of pushes fail, and once that they succeed again", async () => {
  const { tenantId, people } = await team("owner");
  const workspaceId = await workspaceOf(tenantId);
  const add = (more: Run) => run(tenantId, workspaceId, more);
  await add({ state: "failed", minutesAgo: 60 });
  await add({ state: "failed", minutesAgo: 50 });
  await Promise.all(Array.from({ length: 8 }, queue));
  const [mail, ...others] = await mailsOf(tenantId);
  expect(others).toEqual([]);
  expect(mail).toMatchObject({ to: people.owner.email, subject: `h/o/${workspaceId} (main): indexing fails` });
  expect(mail?.text).toContain("the host refused the token.");
  expect(mail?.text).toMatch(/https:\/\/code\.example\/app\/[\w-]+\/runs\/[\da-f-]{36}/);
  // Neither another failure, nor the success of another branch.
  await add({ state: "failed", minutesAgo: 40 });
  await add({ state: "succeeded", ref: "next", minutesAgo: 30 });
  await queue();
  expect(await mailsOf(tenantId)).toHaveLength(1);
  // A person starts a run of the default branch, whose name the request lacks.
  await add({ state: "succeeded", ref: null, actor: "user:1", minutesAgo: 20 });
  await Promise.all(Array.from({ length: 8 }, queue));
  expect((await mailsOf(tenantId)).map(({ subject }) => subject)).toEqual([
    `h/o/${workspaceId} (main): indexing fails`,
    `h/o/${workspaceId} (main): indexing works again`,
  ]);
  await add({ state: "failed", minutesAgo: 10 });
  await queue();
  expect(await mailsOf(tenantId)).toHaveLength(3);
});

it("do not report runs that somebody watches, old ones, and those that succeeded since", async () => {
  const { tenantId } = await team("owner");
  const failed = { state: "failed", minutesAgo: 60 };
  await run(tenantId, await workspaceOf(tenantId), { ...failed, actor: "user:1" });
  await run(tenantId, await workspaceOf(tenantId), { ...failed, minutesAgo: 3 * 24 * 60 });
  const mended = await workspaceOf(tenantId);
  await run(tenantId, mended, failed);
  await run(tenantId, mended, { state: "succeeded", minutesAgo: 50 });
  await queue();
  expect(await mailsOf(tenantId)).toEqual([]);
});

it("are switched off by a team, without old news when they are switched on again", async () => {
  const { tenantId } = await team("owner");
  const change = (mailQuota: boolean, mailRuns: boolean) =>
    changeTenant(db, { tenantId, actor: "user:1", change: { mailQuota, mailRuns } });
  await change(false, true);
  await use(tenantId, 1_000);
  await queue();
  await change(true, false);
  await run(tenantId, await workspaceOf(tenantId), { state: "failed", minutesAgo: 5 });
  await queue();
  await change(true, true);
  await queue();
  expect(await mailsOf(tenantId)).toEqual([]);
});

it("go with their team, and after some months", async () => {
  const { tenantId } = await team("owner");
  await use(tenantId, 1_000);
  await run(tenantId, await workspaceOf(tenantId), { state: "failed", minutesAgo: 5 });
  await queue();
  const left = () =>
    rowsOf<{ subject: string }>(db, sql`select subject from notices where tenant_id = ${tenantId} order by subject`);
  await db.execute(sql`update notices set created_at = now() - interval '80 days' where tenant_id = ${tenantId}`);
  await sweepNotices(db);
  expect((await left()).map(({ subject }) => subject.slice(0, 4))).toEqual(["run:"]);
  await eraseTenant(db, tenantId);
  expect(await left()).toEqual([]);
});
