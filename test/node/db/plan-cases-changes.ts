/** More of `plan-cases.ts`: calls that make, change and remove something, and the daily job. They run for real, in this order. */
import { sql } from "drizzle-orm";
import type { Db } from "../../../src/service/db/client.ts";
import * as sources from "../../../src/service/sources/sources.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import * as mirror from "../../../src/service/gate/mirror.ts";
import * as hooks from "../../../src/service/hooks/manage.ts";
import type { CoordinatorNamespace } from "../../../src/service/runs/coordinator.ts";
import * as runs from "../../../src/service/runs/runs.ts";
import * as start from "../../../src/service/runs/start.ts";
import { sweepOverlays } from "../../../src/service/overlays/sweep.ts";
import { sweepIndex } from "../../../src/service/indexing/sweep.ts";
import { requestRebuilds } from "../../../src/service/hosted-index/rebuilds.ts";
import { sweepSearch } from "../../../src/service/hosted-index/sweep.ts";
import type { SnapshotContext } from "../../../src/service/snapshots/context.ts";
import * as pull from "../../../src/service/snapshots/pull.ts";
import { sweepSnapshots } from "../../../src/service/snapshots/sweep.ts";
import type { CredentialKey } from "../../../src/service/tenancy/credentials.ts";
import { saveCredentialKey } from "../../../src/service/tenancy/credential-key.ts";
import { eraseTenant, finishErasures } from "../../../src/service/tenancy/erase.ts";
import { connectAgent } from "../../../src/service/tenancy/agents.ts";
import { changeKeyBudget, createKey, createToken } from "../../../src/service/tenancy/keys.ts";
import * as tenants from "../../../src/service/tenancy/tenants.ts";
import { createWorkspace } from "../../../src/service/tenancy/workspaces.ts";
import * as accounts from "../../../src/service/users/accounts.ts";
import { carryCredits } from "../../../src/service/users/account-credits.ts";
import * as invitations from "../../../src/service/users/invitations.ts";
import * as members from "../../../src/service/users/members.ts";
import { startSignIn } from "../../../src/service/users/sign-in.ts";
import { sweepPeople } from "../../../src/service/users/sweep.ts";
import type { LargeTenant } from "../../support/large-database.ts";
import { MemoryBucket } from "../../support/pipeline.ts";
import type { Case } from "./plan-cases.ts";

const KEY = Buffer.alloc(32).toString("base64");
/** Statements of the daily job go through a table in pages. */
const PAGES = 60_000;
/** Reads a table of the daily job once. */
const WHOLE = 200_000;
const coordinators: CoordinatorNamespace = {
  idFromName: (name) => name,
  get: () => ({
    submit: async () => {},
    status: async () => null,
    unfinished: async () => [],
    cancel: async () => null,
    isUnfinished: async () => false,
  }),
};
const deps = (db: Db) => ({ db, encryptionKey: KEY, gitHosts: { allowLocal: true }, coordinators });
const by = ({ userId }: LargeTenant) => ({ userId, role: "owner" as const });
const snapshots = (db: Db) =>
  ({
    db,
    now: Date.now,
    bucket: { list: async () => ({ objects: [], truncated: false }) },
  }) as unknown as SnapshotContext;
const first = async (db: Db, table: string, { tenantId }: LargeTenant) => {
  const [row] = await rowsOf<{ id: string }>(
    db,
    sql`select id from ${sql.raw(table)} where tenant_id = ${tenantId} order by created_at desc limit 1`,
  );
  return row?.id ?? "";
};
const month = {
  period: "2026-11",
  version: 1,
  seeded: true,
  credits: 1,
  embedTokens: 1,
  rerankTokens: 1,
  indexTokens: 1,
};
const calls = { embed: 1, rerank: 0, index: 0, snapshot: 0, search: 0 };
const repository = (n: string) => ({ cloneUrl: `https://host.example/owner/${n}`, branches: [] });

export const CHANGES: readonly Case[] = [
  [
    "a new repository",
    (db, { tenantId }) => sources.connectRepository(deps(db), { tenantId, actor: "a", ...repository(tenantId) }),
  ],
  ["another source", (db, tenant) => sources.changeSource(deps(db), { ...tenant, actor: "a", ...repository("large") })],
  [
    "a new hook, and its form sent again",
    async (db, tenant) => {
      const random = new Uint8Array(64).fill(7);
      for (let sent = 0; sent < 2; sent++)
        await hooks.createHook(deps(db), { ...tenant, provider: "gitlab", actor: "a", random });
    },
  ],
  [
    "the end of a hook",
    async (db, tenant) => hooks.deleteHook(db, { ...tenant, id: await first(db, "hooks", tenant), actor: "a" }),
  ],
  [
    "budget of a key",
    async (db, tenant) => {
      const key = { tenantId: tenant.tenantId, name: "budget", kind: "api_key" } as const;
      const { id } = await createKey(db, key, KEY as CredentialKey);
      await changeKeyBudget(db, { ...tenant, id, actor: "a", budget: { monthlyCredits: 5 } });
    },
  ],
  [
    "figures of a gate",
    (db, { tenantId }) =>
      mirror.flush(db, tenantId, {
        months: [{ ...month, calls }],
        keyDays: [
          {
            credentialId: `${tenantId}1`,
            day: "2026-11-01",
            calls: 1,
            credits: 1,
            tokens: 1,
            lastUsedMs: Date.now(),
            version: 1,
          },
        ],
        rejections: [],
      }),
  ],
  [
    "a new run",
    (db, tenant) =>
      start.startRun(deps(db), {
        ...tenant,
        kind: "index",
        source: { type: "git", url: "https://host.example/a" },
        options: { maxFileSizeBytes: 1 },
        actor: "a",
      }),
  ],
  [
    "the end of a run",
    async (db, tenant) => {
      const run = await runs.findRun(db, tenant.tenantId, await first(db, "runs", tenant));
      if (run) await runs.cancelRun(deps(db), run);
    },
  ],
  ["runs", (db, { workspaceId }) => runs.listRuns(deps(db), workspaceId, 20)],
  ["orphaned runs", (db) => start.settleOrphanedRuns(deps(db), Date.now())],
  [
    "a snapshot to pull",
    (db, { tenantId, workspaceId }) => pull.pullSnapshot(snapshots(db), { tenantId }, { workspaceId }).catch(() => {}),
  ],
  [
    "whether there is a newer snapshot",
    (db, { tenantId, workspaceId }) =>
      pull.probeSnapshot(snapshots(db), { tenantId }, { workspaceId }, "f").catch(() => {}),
  ],
  ["a new key", (db, { tenantId }) => createKey(db, { tenantId, name: "k", kind: "api_key" }, KEY as CredentialKey)],
  [
    "a connected agent",
    (db, { tenantId, userId }) =>
      connectAgent(db, {
        id: `${tenantId}agent`,
        secretHash: "00".repeat(32),
        tenantId,
        userId,
        name: "agent",
        restrictions: { scopes: ["search"] },
        expiresAt: new Date(Date.now() + 60_000),
        agent: { clientId: "c", host: "127.0.0.1" },
      }),
  ],
  [
    "a new token",
    (db, { tenantId }) =>
      createToken(db, { tenantId, credentialId: `${tenantId}1` }, { ttlSeconds: 60 }, KEY as CredentialKey),
  ],
  [
    "a new workspace",
    (db, { tenantId }) => createWorkspace(db, { tenantId, repo: `host.example/owner/made-${tenantId}` }),
  ],
  ["the key of credentials", (db) => saveCredentialKey(db, KEY)],
  ["a new tenant", (db) => tenants.createTenant(db, { name: "made" })],
  ["settings of a tenant", (db, { tenantId }) => tenants.setTenant(db, { tenantId, monthlyCredits: 7 })],
  [
    "a person of a team",
    (db, { tenantId }) => accounts.addUser(db, { email: "p@example.com", tenantId, role: "member" }),
  ],
  ["a person's name", (db, { userId }) => accounts.setUserName(db, userId, "n")],
  [
    "a person's team, its form sent again, and again once it is deleted",
    async (db, { userId }) => {
      const own = { name: "own", random: crypto.getRandomValues(new Uint8Array(64)) };
      const { tenantId } = await accounts.createOwnTenant(db, userId, own);
      await accounts.createOwnTenant(db, userId, own);
      await db.execute(sql`delete from tenants where id = ${tenantId}`);
      await db.execute(sql`insert into erasures (tenant_id, workspace_ids, prefixes) values (${tenantId}, '[]', '[]')`);
      await accounts.createOwnTenant(db, userId, own).catch(() => {});
    },
  ],
  [
    "an invitation to a team",
    (db, tenant) => invitations.invite(db, { ...tenant, email: "i@example.com", role: "member", by: by(tenant) }),
  ],
  [
    "an invitation again",
    async (db, tenant) =>
      invitations.renewInvitation(db, { ...tenant, id: await first(db, "invitations", tenant), by: by(tenant) }),
  ],
  [
    "an invitation that is used",
    async (db, tenant) => {
      const { token } = await invitations
        .invite(db, { ...tenant, email: `${tenant.userId}@example.com`, role: "member", by: by(tenant) })
        .catch(() => ({ token: "" }));
      await invitations.acceptInvitation(db, token, { id: tenant.userId, email: "i@example.com" }).catch(() => {});
    },
  ],
  [
    "the end of an invitation",
    async (db, tenant) =>
      invitations.revokeInvitation(db, { ...tenant, id: await first(db, "invitations", tenant), by: by(tenant) }),
  ],
  ["the role of a member", (db, tenant) => members.changeRole(db, { ...tenant, by: by(tenant), role: "owner" })],
  ["a sign-in", (db) => startSignIn(db, KEY, { email: "s@example.com" })],
  ["credits of a tenant", (db, { tenantId }) => carryCredits(db, { tenantId, period: "2026-11", credits: 1 })],
  ["outdated search indexes", (db) => requestRebuilds(db, async () => {}), PAGES],
  [
    "expired overlays",
    async (db, { tenantId }) => {
      const later = sql`update overlays set expires_at = now() - interval '1 hour' where tenant_id = ${tenantId} and seq > -31`;
      await db.execute(later);
      await sweepOverlays(db, new MemoryBucket());
    },
    PAGES,
  ],
  ["the sweep of the index", (db) => sweepIndex(db, new MemoryBucket(), Date.now()), PAGES],
  [
    "the sweep of search",
    async (db, { tenantId }) => {
      const bucket = new MemoryBucket();
      await bucket.put(`search/${tenantId}/segments/s`, new Uint8Array(1));
      await sweepSearch(db, bucket, Date.now() + 9 * 86_400_000);
    },
    PAGES,
  ],
  ["the sweep of snapshots", (db) => sweepSnapshots(snapshots(db)), PAGES],
  ["the sweep of people", (db) => sweepPeople(db), WHOLE],
  [
    "the end of a repository",
    async (db, tenant) =>
      sources.disconnectRepository(db, { ...tenant, workspaceId: await first(db, "workspaces", tenant), actor: "a" }),
  ],
  ["the end of a member", (db, tenant) => members.removeMember(db, { ...tenant, by: by(tenant) }).catch(() => {})],
  ["the erasure of the tenant", (db, { tenantId }) => eraseTenant(db, tenantId), PAGES],
  [
    "the end of its erasure",
    (db) => {
      const empty = { list: async () => ({ objects: [] }), delete: async () => {} };
      return finishErasures({
        db,
        snapshots: empty,
        staging: empty,
        eraseGate: async () => {},
        eraseRuns: async () => {},
      });
    },
    PAGES,
  ],
];
