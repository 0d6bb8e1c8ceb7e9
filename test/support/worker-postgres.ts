import type { TestProject } from "vitest/node";
import { HOSTILE_SETTINGS, servePostgres, startPostgres } from "./postgres-server.ts";
import { provideDatabase } from "./worker-database.ts";

/** Starts a PostgreSQL server in place of the embedded database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  const database = await servePostgres(server, { settings: HOSTILE_SETTINGS });
  await provideDatabase(project, database.neonUrl);
  return async () => {
    await database.close();
    await server.close();
  };
}
