/**
 * `npm run demo -- [https url | local path]`: starts the service with a temporary data directory, indexes a repository, shows
 * the stored data, indexes it again, and cleans up.
 */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { sql } from "drizzle-orm";
import { CodeContextClient, CodeContextError, indexResultOf } from "../../../interface/client/index.ts";
import type { IndexResult } from "../../../contract/index.ts";
import { openDb } from "../../../service/db/client.ts";
import { type DemoSource, openSource } from "../git/demo-source.ts";
import { DEVELOPMENT_VARS, readWorkerVars } from "../stack/environment.ts";
import { OperatorError, UsageError } from "../../errors.ts";
import { runMain } from "./main.ts";
import { askQuestions, COMMON_QUESTIONS, OWN_QUESTIONS, placeLine } from "./demo-questions.ts";
import { createProgress } from "./progress.ts";
import { PROJECT_ROOT } from "../project.ts";
import { type RunningService, startService } from "../stack/service.ts";
import { untilSignal } from "./signals.ts";

const HELP = `Usage: npm run demo -- [https URL | path of a local repository]

Indexes the repository (default: this checkout) on a service of its own, shows some of the symbols stored,
indexes it again, and removes everything.`;

const SYMBOLS_SHOWN = 8;
const EXIT_INTERRUPTED = 130;

class Interrupted extends Error {}

await runMain(async () => {
  const argument = readArgument();
  if (argument === undefined) return console.log(HELP);
  const cleanups: (() => Promise<void> | void)[] = [];
  const interruption = Promise.withResolvers<never>();
  void untilSignal().then(() => interruption.reject(new Interrupted()));
  // Register resources before they start, so that an interrupted start can be cleaned up.
  const work = demonstrate(argument, cleanups, (error) => interruption.reject(error));
  try {
    await Promise.race([work, interruption.promise]);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw explainFailure(error);
    console.log("\ninterrupted, cleaning up …");
    process.exitCode = EXIT_INTERRUPTED;
  } finally {
    for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop()) await cleanup();
  }
});
process.exit();

function readArgument(): string | undefined {
  try {
    const options = { help: { type: "boolean", short: "h" } } as const;
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    if (positionals.length > 1) throw new UsageError("expected one URL or path at most");
    // npm runs scripts in the checkout; a path is relative to the folder where npm was called.
    const [given] = positionals;
    const isPath = given !== undefined && !given.includes("://");
    if (values.help === true) return undefined;
    return isPath ? path.resolve(process.env["INIT_CWD"] ?? ".", given) : (given ?? PROJECT_ROOT);
  } catch (error) {
    throw error instanceof UsageError
      ? error
      : new UsageError(`${(error as Error).message.split(". ")[0]} (see --help)`);
  }
}

async function demonstrate(
  argument: string,
  cleanups: (() => Promise<void> | void)[],
  onFatal: (error: Error) => void,
): Promise<void> {
  const source = await openSource(argument);
  cleanups.push(() => source.close());
  const dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-demo-"));
  cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const startedAt = performance.now();
  const starting = startService({
    dataDir,
    port: 0,
    sitePort: 0,
    vars: readWorkerVars(process.env, DEVELOPMENT_VARS),
    onFatal,
    onProgress: (step) => console.log(`${step} …`),
  });
  cleanups.push(() => starting.then((running) => running.stop()).catch(() => undefined));
  const running = await starting;
  console.log(`service ready after ${seconds(startedAt)} at ${running.service.apiUrl}\n`);

  const first = await index(running, source, "first run");
  await showSymbols(running);
  const second = await index(running, source, "second run, nothing has changed");
  if (second.skippedUnchanged !== first.fileCount || second.embeddedCount !== 0) {
    throw new OperatorError("the second run repeated work of the first");
  }
  console.log(`All ${second.skippedUnchanged} files were recognised and skipped.\n`);
  await askQuestions(running.service, argument === PROJECT_ROOT ? OWN_QUESTIONS : COMMON_QUESTIONS);
}

async function index({ service }: RunningService, source: DemoSource, title: string): Promise<IndexResult> {
  console.log(`${title}: ${source.label}`);
  const startedAt = performance.now();
  const client = new CodeContextClient({ baseUrl: service.apiUrl, workerToken: service.workerToken });
  const { runId } = await client.startIndex({
    workspaceId: service.workspaceId,
    source: { type: "git", url: source.url },
  });
  const progress = createProgress(process.stdout);
  for await (const status of client.streamRun(runId)) {
    progress.show(status);
    if (status.state === "failed") {
      progress.done();
      throw new OperatorError(
        `the run failed with ${status.error?.code ?? "no code"}: ${status.error?.error ?? "no reason given"}`,
      );
    }
    if (status.state !== "succeeded") continue;
    progress.done();
    const result = await indexResultOf(status);
    if (!result) break;
    showResult(result, startedAt);
    return result;
  }
  throw new OperatorError("the run's events ended without a result");
}

function showResult(result: IndexResult, startedAt: number): void {
  const skipped = Object.entries(result.skipped).map(([reason, count]) => `${count} ${reason}`);
  const lines = [
    ["commit", result.gitSha],
    ["files", `${result.fileCount} indexed, ${result.skippedUnchanged} of them unchanged`],
    ["left out", skipped.join(", ") || "none"],
    ["symbols", String(result.symbolCount)],
    ["chunks", `${result.chunkCount}, ${result.embeddedCount} of them embedded in ${result.embedMs} ms`],
    ["elapsed", seconds(startedAt)],
  ];
  for (const [name = "", value = ""] of lines) console.log(`  ${name.padEnd(9)} ${value}`);
  console.log("");
}

/** The largest symbol of each of a few files, from the database. */
async function showSymbols({ service }: RunningService): Promise<void> {
  const { rows } = await openDb(service.databaseUrl).execute(sql`
    select path, kind, qualified_name, start_line
    from (
      select distinct on (f.path) f.path, s.kind, s.qualified_name, s.start_line, s.end_line - s.start_line as lines
      from revision_files f join symbols s on s.content_id = f.content_id
      where f.workspace_id = ${service.workspaceId} and f.to_seq is null
      order by f.path, s.end_line - s.start_line desc
    ) largest
    order by kind in ('key', 'heading', 'rule', 'stage'), lines desc, path
    limit ${SYMBOLS_SHOWN}`);
  console.log("some of the symbols stored:");
  for (const row of rows) {
    const symbol = { kind: String(row["kind"]), qualifiedName: String(row["qualified_name"]) };
    console.log(placeLine(symbol, `${String(row["path"])}:${String(row["start_line"])}`));
  }
  console.log("");
}

function explainFailure(error: unknown): unknown {
  return error instanceof CodeContextError ? new OperatorError(`${error.code}: ${error.message}`) : error;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
