import type { TestProject } from "vitest/node";
import { HOSTILE_SETTINGS, startPostgres } from "../../support/postgres-server.ts";
import { startForTests } from "./stack.ts";

/** The service on a PostgreSQL server of its own, whose defaults are not those that the service needs. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  const stop = await startForTests(project, await server.createDatabase({ settings: HOSTILE_SETTINGS }));
  return async () => {
    await stop();
    await server.close();
  };
}
