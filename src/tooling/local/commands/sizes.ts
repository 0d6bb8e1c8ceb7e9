/**
 * `npm run sizes`: prints the size of each built bundle and fails where one is over its limit. Also checks that the site's proxy,
 * which API requests through the site pass, carries no library.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { buildBundles, bundleFolder, type WorkerName, WORKERS } from "../bundles/bundles.ts";
import { OperatorError } from "../../errors.ts";
import { PROJECT_ROOT } from "../project.ts";
import { runMain } from "./main.ts";

/**
 * Largest minified script of each Worker, in bytes; grammars are files beside it. 115 KB of the site's are the OAuth library, which is evaluated
 * by the first request for it, and 25 KB are GitHub Apps and sign-in with GitHub; 13 KB are the pages of phases, retries, files by outcome, shares of usage
 * and budgets; 12 KB are the search of the landing page, completion, history of files, retention and the settings of agents; 27 KB of the api and of the site, which searches its docs, are what understands misspelt and foreign words; 16 KB of the api read manifests and aliases of scripts, and 12 KB follow uses into
 * other repositories; 2 KB let a question read each file once for all the names that it looks for, 1 KB each exact search find lines and Rust name its packages, and 7 KB C++ tell overloads apart and `importers` follow packages and folders; 1 KB finds other names for what a question asks, 4 KB inherited members, what makes types of Rust, and files that folders of scripts stand for, 2 KB fixtures of pytest, 10 KB components, templates and what calls a function by another name, 8 KB what registers a function and reads properties, 9 KB lines of languages without a grammar and uses of classes that nothing constructs, and 8 KB uses of names that packages define, callees by lines and words of changed lines. 125 KB of the indexer are the
 * readers of uses, of all languages with a grammar, 1 KB of which are macros of Rust and types that classes give their bases; 85 KB the rules for secrets, of which 12 KB are those for passwords of words, 6 KB read files of Razor, and 9 KB find definitions of 23 languages line by line, and 4 KB bound nesting and find parts of templates; 14 KB are further declarations of Haskell, Objective-C, builds and other languages without a grammar, routines of SQL, and headings; 8 KB follow values through containers, the standard library and unpacking.
 */
const MAX_SCRIPT_BYTES: Record<WorkerName, number> = { api: 1_324_000, indexer: 1_209_000, site: 957_000 };
/** The part of the api that every new isolate evaluates. The MCP server with its SDK, the API description, exact search, relations and impact are loaded by the first request for them. */
const MAX_API_START_BYTES = 763_000;
/** Total size of a Worker, grammars included; Cloudflare's limit is 64 MiB. */
const MAX_TOTAL_BYTES = 60_000_000;
const MAX_PROXY_BYTES = 10_000;

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(0)} KB`;

await runMain(async () => {
  await buildBundles();
  const failures: string[] = [];
  const check = (name: string, bytes: number, limit: number, note = "") => {
    console.log(`${name.padEnd(24)} ${kilobytes(bytes).padStart(9)} of ${kilobytes(limit)}${note}`);
    if (bytes > limit) failures.push(`${name} has ${bytes} bytes; the limit is ${limit}`);
  };
  for (const worker of WORKERS) {
    const folder = bundleFolder(worker);
    const script = readFileSync(path.join(folder, "worker.js"));
    check(
      `${worker} script`,
      script.length,
      MAX_SCRIPT_BYTES[worker],
      `, ${kilobytes(gzipSync(script).length)} gzipped`,
    );
    const files = readdirSync(folder).filter((name) => !/\.(?:map|md)$/.test(name));
    const total = files.reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
    check(`${worker} total`, total, MAX_TOTAL_BYTES);
  }
  const api = await bundle("src/workers/api/worker.ts", [
    "*/mcp/http.ts",
    "*/openapi/document.ts",
    "./metrics.ts",
    "*/exact/run-grep.ts",
    "./relations/answer.ts",
    "./relations/definition.ts",
    "./relations/path.ts",
    "./impact/impact.ts",
    "*/relations/uses-index.ts",
    "*/relations/repositories.ts",
    "./filters.ts",
    "./regex-module.ts",
    "./understand.ts",
  ]);
  check("api at start", api.bytes, MAX_API_START_BYTES);
  const proxy = await bundle("src/workers/site/proxy.ts");
  check("site proxy path", proxy.bytes, MAX_PROXY_BYTES);
  failures.push(...proxy.libraries.map((library) => `the site's proxy path imports ${library}`));
  if (failures.length > 0) throw new OperatorError(failures.join("; "));
});

/** Bundles a module as wrangler does: its minified size, and the files of packages in it. */
async function bundle(entry: string, external: string[] = []): Promise<{ bytes: number; libraries: string[] }> {
  const { metafile } = await build({
    entryPoints: [path.join(PROJECT_ROOT, entry)],
    absWorkingDir: PROJECT_ROOT,
    bundle: true,
    minify: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*", "*.bin", ...external],
    write: false,
    metafile: true,
    outfile: "bundle.js",
  });
  const libraries = Object.keys(metafile.inputs).filter((file) => file.includes("node_modules/"));
  return { bytes: metafile.outputs["bundle.js"]?.bytes ?? 0, libraries };
}
