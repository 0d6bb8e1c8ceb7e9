import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { type Db, openDb } from "../../../src/service/db/client.ts";
import { erasures } from "../../../src/service/db/records-schema.ts";
import { backUp, restore } from "../../../src/tooling/local/admin/backup.ts";
import { eraseTenant, finishErasures } from "../../../src/service/tenancy/erase.ts";
import {
  createCredential,
  createKey,
  createTenant,
  createWorkspace,
  findWorkspace,
  parseCredential,
  deriveCredentialKey,
  loadCredentialKey,
  revokeKey,
  saveCredentialKey,
  setTenant,
  TenancyError,
} from "../../../src/service/tenancy/index.ts";
import { addUser } from "../../../src/service/users/index.ts";
import { COMMANDS } from "../../../src/tooling/local/admin/commands.ts";
import { emptyDatabase } from "../../support/empty-database.ts";

const KEY = deriveCredentialKey("secret");
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
let db: Db;

beforeAll(async () => {
  db = openDb(await emptyDatabase());
  await expect(createTenant(db, { name: "too early" })).rejects.toThrow(/ENCRYPTION_KEY/);
  await saveCredentialKey(db, "secret");
});

async function refusal(promise: Promise<unknown>): Promise<Pick<TenancyError, "code" | "field">> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof TenancyError)) throw new Error("expected a TenancyError", { cause: error });
  return { code: error.code, field: error.field };
}

async function eventsOf(tenantId: string): Promise<unknown[]> {
  const { rows } = await db.execute(sql`select event from audit_events where tenant_id = ${tenantId} order by event`);
  return rows.map((row) => row["event"]);
}

describe("credential key", () => {
  it("is that of the service, and no other", async () => {
    expect(await loadCredentialKey(db)).toBe(KEY);
    expect(await refusal(saveCredentialKey(db, "another"))).toEqual({ code: "CONFLICT", field: "ENCRYPTION_KEY" });
    expect(await saveCredentialKey(db, "secret")).toBe(KEY);
  });

  it("recognises forged ids, and those of another deployment", () => {
    const { value } = createCredential("api_key", UNKNOWN, KEY);
    expect(parseCredential(value, "api_key", KEY)?.tenantId).toBe(UNKNOWN);
    expect(parseCredential(value, "worker_token", KEY)).toBeUndefined();
    expect(parseCredential(value, "api_key", deriveCredentialKey("other"))).toBeUndefined();
    const [head, id] = [value.slice(0, 8), value.slice(8, 49)];
    for (let at = 0; at < id.length; at++) {
      const forged = id.slice(0, at) + (id[at] === "7" ? "8" : "7") + id.slice(at + 1);
      expect(parseCredential(head + forged + value.slice(49), "api_key", KEY)).toBeUndefined();
    }
  });
});

describe("tenancy", () => {
  it("makes a tenant whose credentials name it, and keeps no secret", async () => {
    const { tenantId, apiKey, workerToken } = await createTenant(db, { name: " Acme ", monthlyCredits: 5 });
    expect(parseCredential(apiKey, "api_key", KEY)?.tenantId).toBe(tenantId);
    expect(parseCredential(workerToken, "worker_token", KEY)?.tenantId).toBe(tenantId);
    const { rows } = await db.execute(sql`select * from tenants where id = ${tenantId}`);
    expect(rows[0]).toMatchObject({ name: "Acme", monthly_credits: 5, shared_index: false });
    const stored = JSON.stringify(
      (await db.execute(sql`select * from credentials where tenant_id = ${tenantId}`)).rows,
    );
    expect(stored).not.toContain(apiKey.split("_").at(-1));
    expect(await eventsOf(tenantId)).toEqual(["KEY_CREATED", "KEY_CREATED", "TENANT_CREATED"]);
  });

  it("changes quota and opt-in separately", async () => {
    const { tenantId } = await createTenant(db, { name: "a" });
    await setTenant(db, { tenantId, sharedIndex: true });
    await setTenant(db, { tenantId, monthlyCredits: 0 });
    const { rows } = await db.execute(sql`select * from tenants where id = ${tenantId}`);
    expect(rows[0]).toMatchObject({ monthly_credits: 0, shared_index: true });
  });

  it("gives a tenant one workspace per repository, however its address is written", async () => {
    const { tenantId } = await createTenant(db, { name: "a" });
    const other = await createTenant(db, { name: "b" });
    const { workspaceId } = await createWorkspace(db, { tenantId, repo: "git@github.com:Owner/Repo.git" });
    const again = createWorkspace(db, { tenantId, repo: "https://github.com/owner/repo" });
    expect(await refusal(again)).toEqual({ code: "CONFLICT", field: "repo" });
    await createWorkspace(db, { tenantId: other.tenantId, repo: "https://github.com/owner/repo" });
    await createWorkspace(db, { tenantId });
    await createWorkspace(db, { tenantId });
    expect(await findWorkspace(db, workspaceId)).toMatchObject({
      id: workspaceId,
      tenantId,
      repo: "github.com/owner/repo",
      currentSeq: null,
    });
    expect(await findWorkspace(db, UNKNOWN)).toBeUndefined();
  });

  it("revokes one credential for good", async () => {
    const { tenantId } = await createTenant(db, { name: "a" });
    const key = await createKey(db, { tenantId, name: "ci", kind: "api_key" });
    expect(await refusal(revokeKey(db, { id: key.id, kind: "worker_token" }))).toEqual({
      code: "NOT_FOUND",
      field: "id",
    });
    expect(await refusal(revokeKey(db, { id: key.id, tenantId: UNKNOWN }))).toEqual({ code: "NOT_FOUND", field: "id" });
    expect(await revokeKey(db, { id: key.id, kind: "api_key" })).toBe(true);
    const revokedAt = async () =>
      (await db.execute(sql`select revoked_at from credentials where id = ${key.id}`)).rows[0]?.["revoked_at"];
    const first = await revokedAt();
    expect(first).not.toBeNull();
    expect(await revokeKey(db, { id: key.id, kind: "api_key" })).toBe(false);
    expect(await revokedAt()).toEqual(first);
    expect((await eventsOf(tenantId)).filter((event) => event === "KEY_REVOKED")).toHaveLength(1);
    const { rows } = await db.execute(
      sql`select count(*)::int as n from credentials where tenant_id = ${tenantId} and revoked_at is null`,
    );
    expect(rows[0]?.["n"]).toBe(2);
  });

  it("names the field it refuses", async () => {
    const { tenantId } = await createTenant(db, { name: "a" });
    expect(await refusal(createTenant(db, { name: " " }))).toEqual({ code: "INVALID", field: "name" });
    expect(await refusal(createTenant(db, { name: "a", monthlyCredits: 1.5 }))).toEqual({
      code: "INVALID",
      field: "monthly-credits",
    });
    expect(await refusal(setTenant(db, { tenantId }))).toEqual({ code: "INVALID", field: undefined });
    expect(await refusal(setTenant(db, { tenantId: UNKNOWN, sharedIndex: true }))).toEqual({
      code: "NOT_FOUND",
      field: "tenant",
    });
    expect(await refusal(createKey(db, { tenantId: "x", name: "n", kind: "api_key" }))).toEqual({
      code: "INVALID",
      field: "tenant",
    });
    expect(await refusal(createKey(db, { tenantId: UNKNOWN, name: "n", kind: "api_key" }))).toEqual({
      code: "NOT_FOUND",
      field: "tenant",
    });
    expect(await refusal(createWorkspace(db, { tenantId, repo: "owner/repo" }))).toEqual({
      code: "INVALID",
      field: "repo",
    });
    expect(await refusal(createWorkspace(db, { tenantId: UNKNOWN }))).toEqual({ code: "NOT_FOUND", field: "tenant" });
  });
});

it("finishes the erasures of other tenants if that of one fails, and that one with the next call", async () => {
  const { tenantId: broken } = await createTenant(db, { name: "broken" });
  const { tenantId: other } = await createTenant(db, { name: "other" });
  await eraseTenant(db, broken);
  await eraseTenant(db, other);
  const bucket = { list: async () => ({ objects: [] }), delete: async () => {} };
  let isAway = true;
  const deps = {
    db,
    snapshots: bucket,
    staging: bucket,
    eraseRuns: async () => {},
    eraseGate: async (tenantId: string) => {
      if (isAway && tenantId === broken) throw new Error("the gate is away");
    },
  };
  const open = async () =>
    (await db.select().from(erasures))
      .filter(({ tenantId, finishedAt }) => [broken, other].includes(tenantId) && finishedAt === null)
      .map(({ tenantId }) => tenantId);
  await expect(finishErasures(deps)).rejects.toThrow("1 of 2 erasures failed");
  expect(await open()).toEqual([broken]);
  isAway = false;
  expect(Object.keys(await finishErasures(deps))).toEqual([broken]);
  expect(await open()).toEqual([]);
});

it("restores a back-up of a version with fewer tables and columns, and changes nothing for one that is not complete", async () => {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), "codectx-backup-")), "it");
  try {
    const { tenantId } = await createTenant(db, { name: "kept" });
    const manifest = await backUp(db, { folder, bucket: undefined, isBranch: false });
    const rows: Record<string, number> = { ...manifest.rows };
    const list = (tables: Record<string, number>) =>
      writeFileSync(path.join(folder, "backup.json"), JSON.stringify({ ...manifest, rows: tables }));
    const file = path.join(folder, "tables", "account_credits.jsonl.gz");
    const bytes = readFileSync(file);
    rmSync(file);
    const from = { folder, bucket: undefined };
    await expect(restore(db, from)).rejects.toThrow("the back-up's table account_credits is missing");
    writeFileSync(file, bytes);
    list({ ...rows, of_tomorrow: 0 });
    await expect(restore(db, from)).rejects.toThrow("does not know (of_tomorrow)");
    // As 5bbf475 wrote it.
    rmSync(file);
    delete rows["account_credits"];
    list(rows);
    const ofTenants = path.join(folder, "tables", "tenants.jsonl.gz");
    const older = gunzipSync(readFileSync(ofTenants))
      .toString()
      .replaceAll(/,"mail_(?:quota|runs)":(?:true|false)/g, "");
    writeFileSync(ofTenants, gzipSync(older));
    await createTenant(db, { name: "of later" });
    await restore(db, from);
    const names = (await db.execute(sql`select name from tenants`)).rows.map(({ name }) => name);
    expect(names).toContain("kept");
    expect(names).not.toContain("of later");
    expect(older).not.toContain("mail_quota");
    const kept = await db.execute(sql`select mail_quota, mail_runs from tenants where id = ${tenantId}`);
    expect(kept.rows).toEqual([{ mail_quota: true, mail_runs: true }]);
  } finally {
    rmSync(path.dirname(folder), { recursive: true });
  }
});

const list = async (command: string, flags: Record<string, string> = {}): Promise<Record<string, unknown>[]> =>
  (await COMMANDS[command]?.run(db, flags)) as Record<string, unknown>[];

it("a back-up into a folder that cannot be made is refused at once", async () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "backup-")), "file");
  writeFileSync(file, "");
  const folder = path.join(file, "backup");
  await expect(backUp(db, { folder, bucket: undefined, isBranch: true })).rejects.toThrow(/^--to: .*EEXIST/);
});

it("lists tenants, workspaces, users and credentials, and no secret", async () => {
  const { tenantId, apiKey } = await createTenant(db, { name: "acme", monthlyCredits: 5 });
  const other = await createTenant(db, { name: "other" });
  const { userId } = await addUser(db, { email: "ada@example.com", tenantId, role: "member" });
  await addUser(db, { email: "ada@example.com", tenantId: other.tenantId, role: "owner" });
  const { workspaceId } = await createWorkspace(db, { tenantId, repo: "https://github.com/acme/shop" });
  const narrow = await createKey(db, { tenantId, name: "ci", kind: "api_key", restrictions: { scopes: ["search"] } });
  await revokeKey(db, { id: narrow.id, kind: "api_key" });

  const common = { sharedIndex: false, createdAt: expect.any(String) };
  const tenants = await list("tenant list");
  expect(tenants.slice(-2)).toEqual([
    { tenantId, name: "acme", monthlyCredits: 5, members: 1, ...common },
    { tenantId: other.tenantId, name: "other", monthlyCredits: 10_000, members: 1, ...common },
  ]);
  expect(await list("workspace list", { tenant: tenantId })).toMatchObject([
    { workspaceId, repo: "github.com/acme/shop" },
  ]);
  const ada = { email: "ada@example.com", userId };
  expect(await list("user list", { tenant: tenantId })).toEqual([{ ...ada, role: "member", tenantId }]);
  const everywhere = (await list("user list")).filter(({ email }) => email === ada.email);
  expect(everywhere.map(({ role }) => role)).toEqual(expect.arrayContaining(["member", "owner"]));
  const keys = await list("key list", { tenant: tenantId });
  expect(keys.map(({ name, revokedAt }) => [name, revokedAt === null])).toContainEqual(["ci", false]);
  expect(keys).toHaveLength(2);
  expect(JSON.stringify(keys)).not.toContain(apiKey.split("_").at(-1));
  expect(await list("token list", { tenant: other.tenantId })).toHaveLength(1);
  await expect(list("key list", { tenant: "acme" })).rejects.toThrow(/tenant/);
});
