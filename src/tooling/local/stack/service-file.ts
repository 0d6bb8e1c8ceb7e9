/** `service.json`: addresses and credentials of the running service. */
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { sql } from "drizzle-orm";
import * as z from "zod";
import { type Db, openDb } from "../../../service/db/client.ts";
import {
  createKey,
  createTenant,
  createWorkspace,
  type CredentialKey,
  findWorkspace,
  parseCredential,
  saveCredentialKey,
} from "../../../service/tenancy/index.ts";
import { addUser } from "../../../service/users/index.ts";
import { CREDENTIALS_FILE, localSecrets, parseJson, writePrivateJson } from "./local-secrets.ts";
import type { RunningStack } from "./stack.ts";

const DemoCredentials = z.object({
  tenantId: z.string(),
  workspaceId: z.string(),
  apiKey: z.string(),
  workerToken: z.string(),
});
/** The demo tenant and its credentials. */
type DemoCredentials = z.infer<typeof DemoCredentials>;

export const ServiceFile = DemoCredentials.extend({ apiUrl: z.string(), siteUrl: z.string(), databaseUrl: z.string() });
export type ServiceFile = z.infer<typeof ServiceFile>;

/** Owner of the demo tenant, for a first look at the dashboard. */
export const DEMO_EMAIL = "demo@example.com";

/** Path of a data directory's `service.json`, which exists while the service runs. */
export function serviceFilePath(dataDir: string): string {
  return path.join(dataDir, "service.json");
}

/** Undefined when no service runs on the data directory. */
export function readServiceFile(dataDir: string): ServiceFile | undefined {
  return readJson(serviceFilePath(dataDir), ServiceFile);
}

/** Atomically writes `service.json`, readable only by the owner. */
export function writeServiceFile(dataDir: string, service: ServiceFile): void {
  writePrivateJson(serviceFilePath(dataDir), service);
}

export function removeServiceFile(dataDir: string): void {
  rmSync(serviceFilePath(dataDir), { force: true });
}

/**
 * The demo tenant of a data directory: created at the first start and reused later. When the database is another one, the credentials
 * that it does not know are set aside; they are used again once their tenant has been restored.
 */
export async function demoCredentials(stack: Pick<RunningStack, "dataDir" | "databaseUrl">): Promise<DemoCredentials> {
  const file = path.join(stack.dataDir, CREDENTIALS_FILE);
  const setAside = path.join(stack.dataDir, "credentials.other-database.json");
  const db = openDb(stack.databaseUrl);
  const key = await saveCredentialKey(db, localSecrets(stack.dataDir).encryptionKey);
  const kept = readJson(file, DemoCredentials);
  const known = (await knownIn(db, kept)) ?? (await knownIn(db, readJson(setAside, DemoCredentials)));
  if (kept !== undefined && known === undefined) renameSync(file, setAside);
  const demo = known === undefined ? await createDemo(db) : await withValidKeys(db, key, known);
  writePrivateJson(file, demo);
  return demo;
}

async function knownIn(db: Db, demo: DemoCredentials | undefined): Promise<DemoCredentials | undefined> {
  return demo !== undefined && (await findWorkspace(db, demo.workspaceId)) !== undefined ? demo : undefined;
}

async function createDemo(db: Db): Promise<DemoCredentials> {
  const { tenantId, apiKey, workerToken } = await createTenant(db, { name: "demo", sharedIndex: true });
  const { workspaceId } = await createWorkspace(db, { tenantId });
  await addUser(db, { email: DEMO_EMAIL, tenantId, role: "owner" });
  return { tenantId, workspaceId, apiKey, workerToken };
}

/** Replaces credentials that were revoked, or made before public ids carried a check. */
async function withValidKeys(db: Db, key: CredentialKey, demo: DemoCredentials): Promise<DemoCredentials> {
  const { tenantId } = demo;
  const apiKeyId = parseCredential(demo.apiKey, "api_key", key)?.id;
  const workerTokenId = parseCredential(demo.workerToken, "worker_token", key)?.id;
  const { rows } = await db.execute(
    sql`select id from credentials where tenant_id = ${tenantId} and revoked_at is null`,
  );
  const valid = new Set(rows.map((row) => row["id"]));
  const renew = async (kind: "api_key" | "worker_token") =>
    (await createKey(db, { tenantId, name: "demo", kind })).value;
  return {
    ...demo,
    apiKey: valid.has(apiKeyId) ? demo.apiKey : await renew("api_key"),
    workerToken: valid.has(workerTokenId) ? demo.workerToken : await renew("worker_token"),
  };
}

function readJson<T>(file: string, schema: z.ZodType<T>): T | undefined {
  return existsSync(file) ? schema.safeParse(parseJson(readFileSync(file, "utf8"))).data : undefined;
}
