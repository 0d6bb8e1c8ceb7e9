/** `npm run build`: the production bundles, in dist/, and the database that new local ones are copies of. */
import { buildBundles, WORKERS } from "../bundles/bundles.ts";
import { prepareTemplate } from "../database/database.ts";
import { runMain } from "./main.ts";

await runMain(async () => {
  const [built] = await Promise.all([buildBundles(), prepareTemplate()]);
  for (const worker of WORKERS) console.log(`dist/${worker} ${built.includes(worker) ? "built" : "is up to date"}`);
});
