import type { TestProject } from "vitest/node";
import { startDatabase } from "../../src/local/database/database.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Postgres of the test run, behind the local stack's Neon-shaped endpoint. */
    databaseUrl: string;
  }
}

/** Starts the database that all tests in workerd share; each makes tenants of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const database = await startDatabase();
  project.provide("databaseUrl", database.url);
  return () => database.close();
}
