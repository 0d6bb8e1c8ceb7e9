import type { TestProject } from "vitest/node";
import { openDb } from "../../src/service/db/client.ts";
import { startDatabase } from "../../src/tooling/local/database/database.ts";
import { saveCredentialKey } from "../../src/service/tenancy/index.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Postgres of the test run, behind the local stack's Neon-shaped endpoint. */
    databaseUrl: string;
  }
}

/** `ENCRYPTION_KEY` of the service under test. */
export const ENCRYPTION_KEY = Buffer.alloc(32).toString("base64");

/** Starts the database that all tests in workerd share; each makes tenants of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const database = await startDatabase();
  await provideDatabase(project, database.url);
  return () => database.close();
}

export async function provideDatabase(project: TestProject, url: string): Promise<void> {
  await saveCredentialKey(openDb(url), ENCRYPTION_KEY);
  project.provide("databaseUrl", url);
}
