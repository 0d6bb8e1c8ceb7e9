import type { CodeContextClient } from "../../interface/client/client.ts";
import type { RunStatus } from "../../contract/index.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";

/** Follows a run to its end with progress. Returns its result or throws its error. */
export async function followRun(
  context: Context,
  client: CodeContextClient,
  runId: string,
): Promise<Record<string, unknown>> {
  const line = context.ui.progress("Indexing");
  let last: RunStatus | undefined;
  try {
    for await (const status of client.streamRun(runId, { signal: context.stop })) {
      last = status;
      const { phase, filesDone, filesTotal, silentSec } = status.progress;
      // Only the indexing phase reports file counts.
      if (phase === "indexing" && filesDone < filesTotal)
        line.update(filesDone, filesTotal, `${filesDone}/${filesTotal} files`);
      else line.note(silentSec === undefined ? phase : `${phase}, nothing has arrived for ${silentSec} s`);
    }
  } catch (error) {
    if (!context.stop.aborted) throw error;
    throw new CliError(
      EXIT.interrupted,
      "ABORTED",
      `interrupted; the run continues: \`codectx runs watch ${runId}\` follows it`,
      { details: { runId }, cause: error },
    );
  } finally {
    line.end();
  }
  if (last?.state === "succeeded") return last.result ?? {};
  if (last?.state === "cancelled") {
    throw new CliError(EXIT.failure, "RUN_CANCELLED", `run ${runId} was cancelled`, { details: { runId } });
  }
  const { code = "RUN_FAILED", error = "the run failed", details } = last?.error ?? {};
  if (details?.["reason"] === "REF_NOT_FOUND")
    throw new CliError(EXIT.notFound, "REF_NOT_FOUND", error.replace(/^git: /, ""), { details: { ...details, runId } });
  const { CodeContextError } = await import("../../interface/client/errors.ts");
  throw new CodeContextError(code, error, {
    status: code === "CLONE_FAILED" ? 422 : 500,
    details: { ...details, runId },
  });
}
