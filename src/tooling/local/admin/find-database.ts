/** The database of an admin command. */
import { existsSync } from "node:fs";
import path from "node:path";
import { openDatabaseUrl, type RunningDatabase, startDatabase } from "../database/database.ts";
import { OperatorError } from "../../errors.ts";
import { readDataDir, readDatabaseUrl } from "../stack/environment.ts";
import { SECRETS_FILE } from "../stack/local-secrets.ts";
import { lockDataDir } from "../stack/lock.ts";
import { readServiceFile } from "../stack/service-file.ts";

/** A command sends one statement after the other. */
const CONNECTIONS = 2;

/**
 * The database that `DATABASE_URL` names, that of the service running on `DATA_DIR`, or the embedded one of a stopped service, in this
 * order. Throws `OperatorError` if there is none.
 */
export async function findDatabase(env: NodeJS.ProcessEnv): Promise<RunningDatabase> {
  const given = readDatabaseUrl(env);
  if (given !== undefined) return openDatabaseUrl(given, { connections: CONNECTIONS });
  const dataDir = readDataDir(env);
  const running = readServiceFile(dataDir)?.databaseUrl;
  if (running !== undefined) return { url: running, close: async () => {} };
  if (!existsSync(path.join(dataDir, SECRETS_FILE)))
    throw new OperatorError(`no service runs on ${dataDir}: start it (npm start), or set DATABASE_URL or DATA_DIR`);
  const unlock = await lockDataDir(dataDir);
  try {
    const database = await startDatabase({ dataDir });
    const close = async () => {
      await database.close();
      unlock();
    };
    return { url: database.url, close };
  } catch (error) {
    unlock();
    throw error;
  }
}
