/** `npm run build`: the production bundles, in dist/. */
import { buildBundles, WORKERS } from "../bundles/bundles.ts";
import { runMain } from "./main.ts";

await runMain(async () => {
  const built = await buildBundles();
  for (const worker of WORKERS) console.log(`dist/${worker} ${built.includes(worker) ? "built" : "is up to date"}`);
});
