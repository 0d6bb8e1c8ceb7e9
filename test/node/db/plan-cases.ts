/** Calls of the real code whose statements have their plans tested. A statement without a case is found by the test's last check. */
import { sql } from "drizzle-orm";
import type { Db } from "../../../src/service/db/client.ts";
import * as audit from "../../../src/service/dashboard/audit.ts";
import { listKeyUsage } from "../../../src/service/dashboard/keys.ts";
import { listFileRevisions } from "../../../src/service/dashboard/file-history.ts";
import * as repositories from "../../../src/service/dashboard/repositories.ts";
import * as runFiles from "../../../src/service/dashboard/run-files.ts";
import * as teamRuns from "../../../src/service/dashboard/runs.ts";
import * as sources from "../../../src/service/sources/sources.ts";
import * as team from "../../../src/service/dashboard/tenant.ts";
import { readQuota, readUsage } from "../../../src/service/dashboard/usage.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import * as mirror from "../../../src/service/gate/mirror.ts";
import * as files from "../../../src/service/revisions/files.ts";
import * as refs from "../../../src/service/revisions/refs.ts";
import * as writes from "../../../src/service/indexing/revision-writes.ts";
import { NO_TOTALS } from "../../../src/service/indexing/result.ts";
import * as runs from "../../../src/service/runs/runs.ts";
import * as store from "../../../src/service/indexing/store.ts";
import { statements } from "../../../src/service/indexing/sweep.ts";
import { pathCounts } from "../../../src/service/hosted-index/core.ts";
import { readFile, readOutline } from "../../../src/service/hosted-index/file-text.ts";
import { readTargets, type Target, targetsReading } from "../../../src/service/hosted-index/targets.ts";
import { databaseTexts } from "../../../src/service/hosted-index/texts.ts";
import { TextCache } from "../../../src/service/hosted-index/whole-texts/cache.ts";
import { enclosingSymbols, HostedTexts } from "../../../src/service/hosted-index/whole-texts/hosted-texts.ts";
import { findTexts, writeTexts } from "../../../src/service/hosted-index/whole-texts/rows.ts";
import { statements as textStatements } from "../../../src/service/hosted-index/whole-texts/sweep.ts";
import type { TextDeps } from "../../../src/service/hosted-index/whole-texts/text-files.ts";
import { databaseVectors } from "../../../src/service/hosted-index/vectors.ts";
import { listSnapshots } from "../../../src/service/snapshots/pull.ts";
import { findRevision } from "../../../src/service/snapshots/revision.ts";
import type { SnapshotContext } from "../../../src/service/snapshots/context.ts";
import { isAgentConnected } from "../../../src/service/tenancy/agents.ts";
import * as keys from "../../../src/service/tenancy/keys.ts";
import * as workspaces from "../../../src/service/tenancy/workspaces.ts";
import * as invitations from "../../../src/service/users/invitations.ts";
import * as members from "../../../src/service/users/members.ts";
import * as sessions from "../../../src/service/users/sessions.ts";
import { ApiError } from "../../../src/lib/errors.ts";
import { newToken } from "../../../src/service/users/tokens.ts";
import type { LargeTenant } from "../../support/large-database.ts";

/** A case: its name, what it does for a large tenant, and how many rows each of its statements may look at. */
export type Case = readonly [name: string, call: (db: Db, tenant: LargeTenant) => Promise<unknown>, rows?: number];

const hashes = Array.from({ length: 200 }, (_, n) => String(n).padStart(64, "0"));
const some = async (db: Db, { tenantId }: LargeTenant, count = 20) =>
  (
    await rowsOf<{ id: string }>(
      db,
      sql`select id from contents where tenant_id = ${tenantId} order by sha256 limit ${count}`,
    )
  ).map(({ id }) => id);
/** Chunk hashes that the tenant has. */
const own = async (db: Db, tenant: LargeTenant) =>
  (
    await rowsOf<{ hash: string }>(
      db,
      sql`select encode(hash, 'hex') as hash from chunks where content_id = any(${sql.param(`{${(await some(db, tenant)).join(",")}}`)}::uuid[])`,
    )
  ).map(({ hash }) => hash);
const changes = (contentIds: readonly string[]) => ({
  puts: contentIds.map((contentId, n) => ({ path: `src/${n + 1}.go`, oid: "00".repeat(20), mode: 33_188, contentId })),
  deletes: ["src/77.go"],
});
const targetOf = ({ workspaceId }: LargeTenant, current = true) => ({ workspaceId, seq: 6, baseSeq: 5, current });
const lineOf = ({ workspaceId }: LargeTenant) => ({ workspaceId, seq: 5, baseSeq: null });
const revision = {
  gitSha: "c6",
  rootTree: "t",
  planKey: "p",
  fingerprint: "f",
  dimension: 2,
  totals: NO_TOTALS,
  stats: {},
  defaultBranch: "main",
  ref: "refs/heads/main",
  result: {},
  table: { table: "t", segments: ["s1"], vectors: null },
  texts: { list: "l", packs: ["p1"], searchedOnly: 0 },
};
const run = { ...revision, runId: crypto.randomUUID() };
const searched = ({ tenantId, workspaceId }: LargeTenant): Target => ({
  tenantId,
  workspaceId,
  repo: "host/owner/large",
  ref: "main",
  gitSha: "c5",
  indexedAt: "",
  fingerprint: "f",
  seq: 5,
  baseSeq: null,
  table: "t",
  textList: null,
  hasVectors: true,
});
/** 60 files with all of their chunks, as many as a query looks at in one repository. */
const CANDIDATES = Array.from({ length: 600 }, (_, n) => ({
  revision: 0,
  path: `src/${1 + (n % 60)}.go`,
  ordinal: Math.floor(n / 60),
}));
const snapshots = (db: Db) => ({ db }) as unknown as SnapshotContext;
const page = <T>(db: Db, statement: Parameters<typeof rowsOf>[1]) => rowsOf<T>(db, statement);
const PAGES = 60_000;
const RUN_ID = crypto.randomUUID();

export const CASES: readonly Case[] = [
  ["vectors of candidates", (db, tenant) => databaseVectors(db, [searched(tenant)], "f")(CANDIDATES), 5_000],
  [
    "texts of an answer",
    async (db, tenant) =>
      databaseTexts(db, [searched(tenant)])(
        CANDIDATES.slice(0, 50).map(
          ({ path }) => ({ revision: 0, path, chunks: [{ ordinal: 3 }, { ordinal: 4 }], symbols: [0] }) as never,
        ),
      ),
  ],
  [
    "the revision of an overlay",
    (db, { tenantId }) =>
      readTargets(db, { tenantId, credentialId: "k" }, { overlay: crypto.randomUUID() }).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
      }),
  ],
  ["texts by their hashes", (db, { tenantId }) => findTexts(db, tenantId, hashes)],
  [
    "writing texts",
    (db, { tenantId }) =>
      writeTexts(
        db,
        tenantId,
        "1-new",
        hashes.map((sha256, ordinal) => ({ sha256, ordinal, sizeBytes: 9, withheldLines: 0 })),
      ),
  ],
  [
    "symbols around lines",
    (db, tenant) =>
      enclosingSymbols(
        db,
        [searched(tenant)],
        CANDIDATES.slice(0, 50).map(({ path }) => ({ revision: 0, path, lines: [1, 2] })),
      ),
  ],
  [
    "files of a revision without a list",
    (db, tenant) => new HostedTexts({ db, texts: new TextCache() } as unknown as TextDeps, [searched(tenant)]).files(),
    PAGES,
  ],
  ["lines of a file", (db, tenant) => readFile(db, searched(tenant), "src/7.go")],
  ["symbols of a file", (db, tenant) => readOutline(db, searched(tenant), "src/7.go")],
  ["targets with a path", (db, tenant) => pathCounts(db, [searched(tenant), searched(tenant)], ["src/7.go"])],
  ["a target by repository", (db, { tenantId }) => readTargets(db, { tenantId }, { repo: "host/owner/large" })],
  [
    "targets of a caller with a list of repositories",
    (db, { tenantId }) => readTargets(db, { tenantId, repos: ["host/owner/large", "host/owner/none"] }, {}),
  ],
  ["a target by ref", (db, { tenantId, workspaceId }) => readTargets(db, { tenantId }, { workspaceId, ref: "main" })],
  [
    "targets that read an object",
    (db, tenant) => targetsReading(db, [searched(tenant), searched(tenant)], "search/x/tables/t"),
  ],
  ["nextSeq", (db, { workspaceId }) => writes.nextSeq(db, workspaceId)],
  ["discardLeftovers", (db, tenant) => writes.discardLeftovers(db, targetOf(tenant))],
  ["writeChanges", async (db, tenant) => writes.writeChanges(db, targetOf(tenant), changes(await some(db, tenant)))],
  ["changeOfTotals", (db, tenant) => writes.changeOfTotals(db, targetOf(tenant))],
  ["discardLeftovers of a run", (db, tenant) => writes.discardLeftovers(db, targetOf(tenant))],
  [
    "writeChanges beside",
    async (db, tenant) => writes.writeChanges(db, targetOf(tenant, false), changes(await some(db, tenant))),
  ],
  ["changeOfTotals beside", (db, tenant) => writes.changeOfTotals(db, targetOf(tenant, false))],
  ["switchTo", (db, tenant) => writes.switchTo(db, targetOf(tenant), run)],
  ["recordUnchanged", (db, tenant) => writes.recordUnchanged(db, lineOf(tenant), { ...run, kind: "index" })],
  ["trimRefs", (db, { workspaceId }) => refs.trimRefs(db, workspaceId, 64)],
  ["currentRevision", (db, { workspaceId }) => files.currentRevision(db, workspaceId)],
  ["dropRef", (db, { workspaceId }) => refs.dropRef(db, workspaceId, "gone")],
  [
    "a page of files",
    (db, tenant) => page(db, sql`select path from ${files.filesAfter(lineOf(tenant), "src/3", 500)} f`),
  ],
  [
    "a page of files beside",
    (db, tenant) =>
      page(db, sql`select path from ${files.filesAfter({ ...lineOf(tenant), seq: 7, baseSeq: 5 }, "src/3", 500)} f`),
  ],
  ["findBlobs", (db, { tenantId }) => store.findBlobs(db, tenantId, ["00".repeat(20)])],
  [
    "writeBlobs",
    (db, { tenantId }) =>
      store.writeBlobs(db, tenantId, [{ oid: "00", sha256: "00", sizeBytes: 1, skip: null, interpreter: null }]),
  ],
  ["findContents", async (db, tenant) => store.findContents(db, await some(db, tenant))],
  ["findUnembedded", async (db, tenant) => store.findUnembedded(db, tenant.tenantId, "f", await some(db, tenant))],
  ["unembeddedChunks", async (db, tenant) => store.unembeddedChunks(db, tenant.tenantId, "f", await some(db, tenant))],
  [
    "claimVectors",
    async (db, tenant) => store.claimVectors(db, tenant.tenantId, "f", [...(await own(db, tenant)), ...hashes]),
  ],
  [
    "writeVectors",
    (db, { tenantId }) =>
      store.writeVectors(
        db,
        tenantId,
        "f",
        hashes.map((hash) => ({ hash, bytes: new Uint8Array(2) })),
      ),
  ],
  ["sweep of revisions", (db, { workspaceId }) => page(db, statements.revisions(workspaceId))],
  ["sweep of files", (db, { workspaceId }) => page(db, statements.files(workspaceId))],
  ["sweep of contents", (db) => page(db, statements.contents(crypto.randomUUID())), PAGES],
  ["page of vectors", (db) => page(db, statements.vectorPage("80")), PAGES],
  ["sweep of vectors", (db) => page(db, statements.vectors({ first: "80", last: "84" })), PAGES],
  ["a tenant to sweep", (db) => page(db, textStatements.tenants(crypto.randomUUID()))],
  ["packs without a reader", (db, { tenantId }) => page(db, textStatements.deadPacks(tenantId)), 2 * PAGES],
  ["sweep of texts", (db, { tenantId }) => page(db, textStatements.rows(tenantId, ["1-p3"])), PAGES],
  ["objects of texts in use", (db, { tenantId }) => page(db, textStatements.live(tenantId)), 2 * PAGES],
  ["sweep of blobs", (db) => page(db, statements.blobs()), PAGES],
  ["sweep of runs", (db) => page(db, statements.runs()), PAGES],
  ["sweep of audit events", (db) => page(db, statements.auditEvents()), PAGES],
  ["teams of a short retention", (db) => page(db, statements.shortRetention(crypto.randomUUID()))],
  [
    "sweep of a team's runs",
    (db, { tenantId }) => page(db, statements.runsOf({ id: tenantId, runDays: 30, auditDays: 30 })),
    PAGES,
  ],
  [
    "sweep of a team's audit events",
    (db, { tenantId }) => page(db, statements.auditEventsOf({ id: tenantId, runDays: 30, auditDays: 30 })),
    PAGES,
  ],
  ["findRevision", (db, tenant) => findRevision(db, tenant, { seq: 5 })],
  ["listSnapshots", (db, { tenantId }) => listSnapshots(snapshots(db), { tenantId }), PAGES],
  ["findRun", (db, { tenantId }) => runs.findRun(db, tenantId, crypto.randomUUID())],
  ["a page of the audit feed", (db, { tenantId }) => audit.listAudit(db, tenantId, {}, 50)],
  ["the actor of a name", (db, { tenantId }) => audit.findActor(db, tenantId, "no-one@example.com")],
  ["a page of repositories", (db, { tenantId }) => repositories.listRepositories(db, tenantId), 6_000],
  [
    "a page of filtered repositories",
    (db, { tenantId }) =>
      repositories.listRepositories(db, tenantId, { text: "owner/9", state: "empty", order: "run", page: 2 }),
    6_000,
  ],
  ["repositories of the overview", (db, { tenantId }) => repositories.listPressing(db, tenantId, 5), 6_000],
  ["revisions that are kept", (db, { workspaceId }) => repositories.listKeptRevisions(db, workspaceId)],
  [
    "a file in the revisions that are kept",
    async (db, { workspaceId }) => {
      const kept = await repositories.listKeptRevisions(db, workspaceId);
      return listFileRevisions(db, workspaceId, "src/a.ts", kept);
    },
  ],
  ["names of repositories", (db, { tenantId }) => repositories.listRepositoryNames(db, tenantId), 6_000],
  [
    "a repository by its name",
    (db, { tenantId, workspaceId }) =>
      repositories.findByLongestName(db, tenantId, ["github.com/acme", "github.com/acme/shop", workspaceId]),
  ],
  [
    "names of chosen repositories",
    (db, { tenantId, workspaceId }) => repositories.namesOf(db, tenantId, [workspaceId]),
  ],
  ["a repository", (db, { tenantId, workspaceId }) => repositories.findRepository(db, tenantId, workspaceId)],
  ["a page of runs", (db, { workspaceId }) => repositories.listWorkspaceRuns(db, workspaceId)],
  ["a page of a team's runs", (db, { tenantId }) => teamRuns.listTeamRuns(db, tenantId)],
  [
    "a page of a team's filtered runs",
    (db, { tenantId, workspaceId }) =>
      teamRuns.listTeamRuns(db, tenantId, { workspaceId, state: "failed", trigger: "hook", from: new Date(0) }),
    12_000,
  ],
  ["a team's run", (db, { tenantId }) => teamRuns.findTeamRun(db, tenantId, crypto.randomUUID())],
  [
    "the run before",
    (db, tenant) =>
      teamRuns.findRunBefore(db, { workspaceId: tenant.workspaceId, runId: RUN_ID, kind: "index", ref: null } as never),
  ],
  [
    "files of a run by outcome",
    (db, { workspaceId }) => runFiles.filesByOutcome(db, { workspaceId, seq: 1, baseSeq: null }, "partial"),
    30_000,
  ],
  ["deliveries of hooks", (db, { workspaceId }) => repositories.listDeliveries(db, workspaceId)],
  ["use of keys", (db, { tenantId }) => listKeyUsage(db, tenantId)],
  ["use of a member's keys", (db, { tenantId, userId }) => listKeyUsage(db, tenantId, userId)],
  ["whether an agent is connected", (db, { tenantId }) => isAgentConnected(db, tenantId, `${tenantId}1`)],
  ["settings of a team", (db, { tenantId }) => team.readTenant(db, tenantId)],
  [
    "change of a team",
    (db, { tenantId }) => team.changeTenant(db, { tenantId, actor: "a", change: { name: "b", sharedIndex: true } }),
  ],
  ["first steps", (db, { tenantId, userId }) => team.readFirstSteps(db, { tenantId, userId, manages: true }), 3_000],
  ["usage", (db, { tenantId }) => readUsage(db, tenantId, Date.now()), 14_000],
  ["quota", (db, { tenantId }) => readQuota(db, tenantId, Date.now())],
  ["source of a repository", (db, { workspaceId }) => sources.openSource({ db, encryptionKey: "" }, workspaceId)],
  ["members", (db, { tenantId }) => members.listMembers(db, tenantId)],
  ["invitations", (db, { tenantId }) => invitations.listInvitations(db, tenantId)],
  ["an invitation", (db) => invitations.findInvitation(db, newToken().value)],
  ["a session", (db) => sessions.readSession(db, newToken().value)],
  ["sessions of a person", (db, { userId }) => sessions.listSessions(db, userId)],
  ["use of a session", (db) => sessions.touchSession(db, crypto.randomUUID())],
  ["end of a session", (db, { userId }) => sessions.revokeSession(db, userId, crypto.randomUUID())],
  ["end of the other sessions", (db, { userId }) => sessions.revokeOtherSessions(db, userId, crypto.randomUUID())],
  ["a credential", (db, { tenantId }) => mirror.loadCredential(db, tenantId, `${tenantId}1`, "2026-11")],
  ["a narrow credential", (db, { tenantId }) => mirror.loadCredential(db, tenantId, `${tenantId}token`, "2026-11")],
  ["credits of a narrow credential", (db, { tenantId }) => mirror.loadSpent(db, tenantId, `${tenantId}1`, "2026-11")],
  ["months of a tenant", (db, { tenantId }) => mirror.loadMonths(db, tenantId, ["2026-11"])],
  ["a tenant", (db, { tenantId }) => mirror.hasTenant(db, tenantId)],
  ["end of a key", (db, { tenantId }) => keys.revokeKey(db, { id: `${tenantId}20`, tenantId, kind: "api_key" })],
  [
    "end of a token",
    (db, { tenantId }) => keys.revokeToken(db, { tenantId, credentialId: `${tenantId}1` }, `${tenantId}token`),
  ],
  ["a workspace", (db, { workspaceId }) => workspaces.findWorkspace(db, workspaceId)],
];
