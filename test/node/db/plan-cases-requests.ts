/** More of `plan-cases.ts`: deliveries of git hosts, mails and sign-ins, uploads of snapshots, health and metrics. */
import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import type { SnapshotManifest } from "../../../src/contract/index.ts";
import type { Db } from "../../../src/service/db/client.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { ApiError } from "../../../src/lib/errors.ts";
import { databaseProbe, randomTenant } from "../../../src/service/health/probes.ts";
import { runMetrics } from "../../../src/service/health/run-metrics.ts";
import { createHook } from "../../../src/service/hooks/manage.ts";
import { receiveDelivery } from "../../../src/service/hooks/receive.ts";
import type { CoordinatorNamespace } from "../../../src/service/runs/coordinator.ts";
import { lastOptions } from "../../../src/service/runs/options.ts";
import { createLogger } from "../../../src/lib/log.ts";
import { queueNotices } from "../../../src/service/mail/notices.ts";
import { sealMail, sendMails } from "../../../src/service/mail/outbox.ts";
import { commitSnapshot, flipCurrent } from "../../../src/service/snapshots/commit.ts";
import type { SnapshotContext } from "../../../src/service/snapshots/context.ts";
import { createPresigner } from "../../../src/service/snapshots/presign.ts";
import { signSnapshot } from "../../../src/service/snapshots/sign.ts";
import { finishSignIn, startSignIn } from "../../../src/service/users/sign-in.ts";
import { signInByEmail } from "../../../src/service/users/sign-in-by-email.ts";
import { acceptInvitation, invite, revokeInvitation } from "../../../src/service/users/invitations.ts";
import { PAYLOADS, signHook } from "../../support/hook-payloads.ts";
import type { LargeTenant } from "../../support/large-database.ts";
import type { Case } from "./plan-cases.ts";

const KEY = Buffer.alloc(32).toString("base64");
const log = createLogger({}, () => {});
/** The metrics count what ended in the last hour. */
const ENDED = 60_000;
/** Storage that the snapshots of a tenant take is summed over all of them, of which the fixture has 1,000. */
const SNAPSHOTS = 5_000;

export const coordinators: CoordinatorNamespace = {
  idFromName: (name) => name,
  get: () => ({
    submit: async () => {},
    status: async () => null,
    unfinished: async () => [],
    cancel: async () => null,
  }),
};

async function deliver(db: Db, { tenantId, workspaceId }: LargeTenant): Promise<void> {
  const hook = await createHook({ db, encryptionKey: KEY }, { tenantId, workspaceId, provider: "gitea", actor: "a" });
  const limits = { limitHook: async () => {}, limitSender: async () => {} };
  const send = async (ref: string, after: string, secret = hook.secret) => {
    const { headers, body } = PAYLOADS.gitea({ ref, after, defaultBranch: "main" });
    const text = JSON.stringify(body);
    const { status, ...received } = await receiveDelivery(
      { accounts: db, databaseOf: () => db, coordinators, encryptionKey: KEY, log, ...limits },
      {
        provider: "gitea",
        id: hook.id,
        headers: new Headers({ ...headers, ...signHook("gitea", secret, text) }),
        body: new TextEncoder().encode(text),
      },
    );
    return "outcome" in received ? [received.outcome, received.detail] : [status];
  };
  const expected = [
    [await send("refs/heads/main", "1".repeat(40)), "started"],
    // The first one's run waits and is cancelled.
    [await send("refs/heads/main", "2".repeat(40)), "started"],
    [await send("refs/heads/gone", "0".repeat(40)), "ignored"],
    [await send("refs/heads/main", "3".repeat(40), "wrong"), "forged"],
  ] as const;
  for (const [[outcome, detail], wanted] of expected)
    if (outcome !== wanted) throw new Error(`a delivery was ${outcome} (${detail}), not ${wanted}`);
  if (expected[1][0][1] === null) throw new Error("the run that waited was not cancelled");
}

async function mail(db: Db, sendsAny: boolean): Promise<void> {
  const letter = { to: "m@example.com", subject: "s", text: "t", html: "h" };
  const compose = () => sealMail(KEY, letter, { kind: "sign_in_code", usefulSec: 60 });
  const send = async () => {
    if (!sendsAny) throw new Error("the server does not answer");
  };
  await startSignIn(db, KEY, { email: letter.to, compose });
  const deps = { db, encryptionKey: KEY, mailer: { maxSec: 1, send }, log, now: Date.now };
  const { sent, failed } = await sendMails(deps);
  if ((sendsAny ? sent : failed) === 0) throw new Error("no message was attempted");
}

/** A failure that the owners are told of, and the success after it. */
async function notices(db: Db, { tenantId, workspaceId }: LargeTenant): Promise<void> {
  const queue = () => queueNotices({ db, encryptionKey: KEY, siteUrl: undefined, now: Date.now });
  const add = (state: string, age: string) =>
    db.execute(sql`
      insert into runs (id, tenant_id, workspace_id, kind, state, request, created_at, finished_at)
      values (gen_random_uuid(), ${tenantId}, ${workspaceId}, 'index', ${state}, '{"actor": "hook:1", "ref": "plans"}',
        now() + ${age}::interval, now())`);
  await add("failed", "1 minute");
  if ((await queue()) === 0) throw new Error("the failure is no news");
  await add("succeeded", "2 minutes");
  if ((await queue()) === 0) throw new Error("the success is no news");
}

async function signIn(db: Db): Promise<void> {
  const { pending, code } = await startSignIn(db, KEY, { email: `${crypto.randomUUID()}@example.com` });
  await finishSignIn(db, KEY, { pending, code, userAgent: "" });
  await signInByEmail(db, { email: `${crypto.randomUUID()}@example.com`, userAgent: "", signUp: ["example.com"] });
}

const bucket = {
  head: async () => null,
  get: async () => null,
  list: async () => ({ objects: [], truncated: false }),
  delete: async () => {},
};
const presigner = createPresigner({ endpoint: "https://store.example/b", accessKeyId: "i", secretAccessKey: "s" });
const context = (db: Db) =>
  ({ db, bucket, presigner, storageLimitBytes: 10_000_000, now: Date.now, log }) as unknown as SnapshotContext;

/** Signs an upload and tries to commit it before it is there; then makes it current as if it were, twice. */
async function upload(db: Db, { tenantId, workspaceId }: LargeTenant, repo?: string): Promise<void> {
  const manifest = {
    formatVersion: 3,
    gitSha: "a".repeat(40),
    checksum: `sha256:${createHash("sha256").update(crypto.randomUUID()).digest("hex")}`,
    compression: "none",
    fileCount: 1,
    symbolCount: 1,
    embedding: { fingerprint: "f", dimension: 2 },
    sizeBytes: 100,
  } as unknown as SnapshotManifest;
  const caller = { tenantId, actor: "a" };
  const selector = repo === undefined ? { workspaceId } : { repo };
  const { storagePath } = await signSnapshot(context(db), caller, { op: "sign", manifest, ...selector });
  const commit = { op: "commit", manifest, sizeBytes: 100, storagePath, ...selector } as const;
  const refused = await commitSnapshot(context(db), caller, commit).catch((error: unknown) => error);
  if (!(refused instanceof Error)) throw new Error("a snapshot without an upload was committed");
  if (repo !== undefined) return;
  const id = storagePath.split("/")[1] ?? "";
  const verified = { id, workspaceId, storagePath, manifest, sizeBytes: 100 };
  const flipped = [await flipCurrent(context(db), caller, verified), await flipCurrent(context(db), caller, verified)];
  if (flipped.join() !== "true,false") throw new Error(`flipped: ${flipped.join()}`);
}

export const REQUESTS: readonly Case[] = [
  ["metrics of runs", (db) => runMetrics(db), ENDED],
  ["options of the last run", (db, { workspaceId }) => lastOptions(db, workspaceId)],
  ["the health of the database", async (db) => databaseProbe(db)(AbortSignal.timeout(10_000))],
  ["any tenant", (db) => randomTenant(db)],
  ["deliveries of a git host", deliver],
  ["a mail", (db) => mail(db, true)],
  ["a mail that fails", (db) => mail(db, false)],
  ["notices to owners", notices],
  ["a sign-in with its code", signIn],
  [
    "an invitation that is accepted",
    async (db, tenant) => {
      const by = { userId: tenant.userId, role: "owner" as const };
      const email = `${crypto.randomUUID()}@example.com`;
      const [user] = await rowsOf<{ id: string }>(db, sql`insert into users (email) values (${email}) returning id`);
      await revokeInvitation(db, { tenantId: tenant.tenantId, id: crypto.randomUUID(), by }).catch(() => {});
      const { token } = await invite(db, { tenantId: tenant.tenantId, email, role: "member", by });
      await acceptInvitation(db, token, { id: user?.id ?? "", email });
    },
  ],
  ["an upload of a snapshot", (db, tenant) => upload(db, tenant), SNAPSHOTS],
  [
    "an upload for a new repository",
    // The tenant has more workspaces than are made in this way: what is counted for that is looked at, and it is refused.
    (db, tenant) =>
      upload(db, tenant, `host.example/owner/${crypto.randomUUID()}`).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== "WORKSPACE_LIMIT") throw error;
      }),
    SNAPSHOTS,
  ],
];
