/** `npm run conformance -- <url>`: asks a running service whether it does what the contract says. */
import { parseArgs } from "node:util";
import { CHECKS } from "./checks/index.ts";
import { Difference, type Need, ServiceUnderTest, type TargetOptions } from "./target.ts";

const USAGE = `Usage: npm run conformance -- <api url> [options]

Asks a running service for everything that docs/http.md promises, one line a check. Exits with 1 where it differs.

  --site <url>        the site, to try its proxy
  --workspace <id>    a workspace of the tenant; --git-url is indexed into it
  --git-url <url>     a small repository that the service can pull
  --tenant <id>       the tenant, for POST /snapshot

Credentials come from the environment: CODECTX_API_KEY and CODECTX_WORKER_TOKEN. Checks that lack something are skipped. A run costs a
few credits and publishes a snapshot of a kilobyte as conformance.example/code-context/probe. Use a tenant made for it.`;

/** What to give for a check that was skipped. */
const GIVE: Record<Need, string> = {
  siteUrl: "--site",
  apiKey: "CODECTX_API_KEY",
  workerToken: "CODECTX_WORKER_TOKEN",
  tenantId: "--tenant",
  workspaceId: "--workspace",
  gitUrl: "--git-url",
};

/** Requests of which the median is printed. */
const ROUND_TRIPS = 9;

const options = readOptions();
if (options === undefined) process.exitCode = 2;
else process.exitCode = await runChecks(new ServiceUnderTest(options));

/** Prints a line for each check. Returns the exit code. */
async function runChecks(target: ServiceUnderTest): Promise<number> {
  const counts = { ok: 0, differs: 0, skipped: 0 };
  for (const { title, needs = [], run } of CHECKS) {
    const missing = needs.filter((need) => target.options[need] === undefined);
    if (missing.length > 0) {
      counts.skipped++;
      console.log(`skipped  ${title}\n         give ${missing.map((need) => GIVE[need]).join(", ")}`);
      continue;
    }
    try {
      const seen = await run(target);
      counts.ok++;
      console.log(`ok       ${title}${typeof seen === "string" ? ` (${seen})` : ""}`);
    } catch (error) {
      counts.differs++;
      console.log(`DIFFERS  ${title}\n         ${describe(error)}`);
    }
  }
  await printLatency(target);
  console.log(`\n${counts.ok} hold, ${counts.differs} differ, ${counts.skipped} were skipped`);
  return counts.differs === 0 ? 0 : 1;
}

/**
 * Prints the latency of the tenant's Durable Object: a free call that uses it, beside one that does not. Its location was fixed near
 * its first caller.
 */
async function printLatency(target: ServiceUnderTest): Promise<void> {
  if (target.options.apiKey === undefined) return;
  const median = async (path: string, as?: "apiKey"): Promise<number> => {
    const times: number[] = [];
    for (let i = 0; i < ROUND_TRIPS; i++) {
      const started = performance.now();
      await target.call(path, as === undefined ? {} : { as });
      times.push(performance.now() - started);
    }
    return Math.round(times.toSorted((a, b) => a - b)[ROUND_TRIPS >> 1] ?? 0);
  };
  try {
    const [plain, gated] = [await median("/no-such-route"), await median("/rerank", "apiKey")];
    const { headers } = await target.call("/healthz");
    const colo = headers.get("CF-Ray")?.split("-")[1];
    console.log(
      `\nmedian of ${ROUND_TRIPS}: ${plain} ms without, ${gated} ms with the tenant's object${colo === undefined ? "" : `, from ${colo}`}`,
    );
  } catch (error) {
    console.log(`\nlatency: ${describe(error)}`);
  }
}

function describe(error: unknown): string {
  if (error instanceof Difference) return error.message;
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.name}: ${error.message}${cause}`;
}

/** Undefined if the command line is wrong or asks for help; then the usage has been printed. */
function readOptions(): TargetOptions | undefined {
  try {
    const text = { type: "string" } as const;
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { site: text, workspace: text, "git-url": text, tenant: text, help: { type: "boolean", short: "h" } },
    });
    const [url] = positionals;
    if (values.help || url === undefined || positionals.length > 1) throw new Error("one address of an api is needed");
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new Error(`${url} is not an http(s) address`);
    const { CODECTX_API_KEY: apiKey, CODECTX_WORKER_TOKEN: workerToken } = process.env;
    return {
      apiUrl: url.replace(/\/+$/, ""),
      siteUrl: values.site?.replace(/\/+$/, ""),
      apiKey: apiKey || undefined,
      workerToken: workerToken || undefined,
      workspaceId: values.workspace,
      gitUrl: values["git-url"],
      tenantId: values.tenant,
    };
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return undefined;
  }
}
