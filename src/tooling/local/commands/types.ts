/** `npm run types [-- --check]`: generates the types of the Workers' bindings from their configuration, or checks them. */
import { OperatorError } from "../../errors.ts";
import { runMain } from "./main.ts";
import { runWrangler, wranglerComplaint } from "../bundles/wrangler.ts";

/** Arguments of `wrangler types` by output file. The runtime's own types come from `@cloudflare/workers-types`. */
const FILES: Record<string, string[]> = {
  "worker-configuration.d.ts": [
    "--config=wrangler.toml",
    "--include-runtime=false",
    "--strict-vars=false",
    "--env-interface=ApiEnv",
  ],
  "src/workers/indexer/env.d.ts": [
    "--config=src/workers/indexer/wrangler.toml",
    "--config=wrangler.toml",
    "--include-runtime=false",
    "--strict-vars=false",
    "--env-interface=IndexerEnv",
    "src/workers/indexer/env.d.ts",
  ],
  "src/workers/site/env.d.ts": [
    "--config=src/workers/site/wrangler.toml",
    "--config=wrangler.toml",
    "--include-runtime=false",
    "--strict-vars=false",
    "--env-interface=SiteEnv",
    "src/workers/site/env.d.ts",
  ],
};

await runMain(async () => {
  const check = process.argv.includes("--check");
  for (const [file, args] of Object.entries(FILES)) {
    try {
      await runWrangler(["types", ...args, ...(check ? ["--check"] : [])]);
    } catch (error) {
      const advice = check ? "run npm run types and commit the result" : "see above";
      throw new OperatorError(`${file}: ${wranglerComplaint(error)} (${advice})`);
    }
    console.log(`${file} ${check ? "is up to date" : "written"}`);
  }
});
