/** `npm run db:migrate`: applies the migrations to the database of DATABASE_URL or of a running service. */
import { readDataDir, readDatabaseUrl } from "../stack/environment.ts";
import { StartError } from "../errors.ts";
import { runMain } from "./main.ts";
import { migrate } from "../database/migrations.ts";
import { readServiceFile } from "../stack/service-file.ts";

await runMain(async () => {
  const databaseUrl = readDatabaseUrl(process.env) ?? readServiceFile(readDataDir(process.env))?.databaseUrl;
  if (databaseUrl === undefined) throw new StartError("no database: set DATABASE_URL");
  const count = await migrate(databaseUrl);
  console.log(count === 0 ? "the database is up to date" : `${count} migration${count === 1 ? "" : "s"} applied`);
});
