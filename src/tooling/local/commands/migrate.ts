/** `npm run db:migrate`: applies the migrations to the database of DATABASE_URL, or to that of the service on DATA_DIR. */
import { findDatabase } from "../admin/find-database.ts";
import { runMain } from "./main.ts";
import { migrate } from "../database/migrations.ts";
import { numberOf } from "../../../lib/display.ts";

await runMain(async () => {
  const database = await findDatabase(process.env);
  try {
    const count = await migrate(database.url);
    console.log(count === 0 ? "the database is up to date" : `${numberOf(count, "migration")} applied`);
  } finally {
    await database.close();
  }
});
