/** Panels of a run's page. */
import { figureOf, gitShaOf, type RunRow } from "../../../service/dashboard/repositories.ts";
import type { TeamRun } from "../../../service/dashboard/runs.ts";
import { codeUrl } from "../app/code.ts";
import { type DashboardContext, tenantPath } from "../app/context.ts";
import { formatCount } from "./format.ts";
import { Form, Panel, Time } from "./parts.tsx";
import { FIGURES, leftOutText, skippedOf } from "./run-files.tsx";
import { CancelRun, duration, Result, type ShownRun } from "./runs.tsx";
import { Commit, isActive, RunTag } from "./state.tsx";
import { Table } from "./table.tsx";
import { triggerOf } from "./team-runs.tsx";

/** What to do about a failed run: by the reason of a failed pull, else by the error's code. */
const NEXT_STEPS: Record<string, string> = {
  AUTH: "Set a read token with access to this repository under Source on the repository's page, then index again.",
  NOT_FOUND: "Check the clone address; a private repository needs a read token to be found.",
  REF_NOT_FOUND: "The branch, tag or commit is not at the host. Check its name, or index the default branch.",
  EMPTY_REPOSITORY: "The repository has no commit yet. Push one, then index again.",
  URL_FORBIDDEN: "The operator of this service does not allow this host. Use an allowed one, or ask the operator.",
  NETWORK:
    "The host was not reached, or closed the connection while sending. Check its address and port, then index again.",
  TIMEOUT: "The host sent nothing for too long. Index again; if it repeats, look at the host's load.",
  LIMIT: "The repository is larger than the service takes; see its limits. Narrow what is pulled, or ask the operator.",
  CORRUPT: "The host sent damaged data. Run git fsck on the repository at its host.",
  PROTOCOL: "The address does not answer as a Git host over HTTPS. Check the clone address.",
  EMBED_FAILED: "The embedding provider refused the work. The operator of this service can see why in its log.",
  EMBED_UNAVAILABLE: "The embedding provider was not available. Index again in a while.",
  STORAGE_LIMIT: "The team's storage is full. Disconnect repositories that nobody needs, then index again.",
  ABORTED: "The service stopped while it pulled. Index again.",
  INVALID_BODY: "Mend the pattern that the error names, then index again.",
  STORAGE_UNAVAILABLE:
    "The service's database or object store was away for minutes. Index again in a while; the operator's log has the cause.",
  INTERNAL:
    "Index again: what was done is kept. If it fails once more, give the run id to the operator, whose log has the cause.",
  NO_REVISION: "Index the commit first, then ask for the snapshot again.",
  RUN_CANCELLED: "Somebody cancelled the run. Index again if it is wanted; the index is as it was before.",
};

/** A run's state, trigger, times and commit, with its error and what mends it. */
export function RunFacts({
  c,
  run,
  cancelAction,
  retryAction,
}: {
  c: DashboardContext;
  run: TeamRun & ShownRun;
  /** Undefined if the user may not. */
  cancelAction: string | undefined;
  retryAction: string | undefined;
}) {
  const gitSha = gitShaOf(run);
  const next = nextStep(run.error);
  return (
    <Panel
      title={`${run.kind === "index" ? "Index" : "Snapshot"} run`}
      aside={
        <>
          {cancelAction !== undefined && isActive(run.state) && <CancelRun action={cancelAction} />}
          {retryAction !== undefined && run.state === "failed" && run.kind === "index" && (
            <Form action={retryAction} inline>
              <button type="submit" class="primary">
                Index the default branch again
              </button>
            </Form>
          )}
        </>
      }
    >
      <div class="body">
        {run.error && (
          <div class="notice error">
            <strong>{run.error.error ?? run.error.code ?? "The run failed."}</strong>
            {next !== undefined && <div>{next}</div>}
          </div>
        )}
        <dl class="facts">
          <dt>State</dt>
          <dd>
            <RunTag state={run.state} /> {isActive(run.state) && <Result run={run} repo={run.repo} />}
          </dd>
          <dt>Repository</dt>
          <dd>
            <a href={tenantPath(c, `repositories/${run.workspaceId}`)}>{run.repo ?? run.workspaceId}</a>{" "}
            <a class="small" href={`${tenantPath(c, "runs")}?repository=${run.workspaceId}`}>
              all its runs
            </a>
          </dd>
          <dt>Started by</dt>
          <dd>{triggerOf(run)}</dd>
          <dt>Ref</dt>
          <dd>{run.ref ?? "default branch"}</dd>
          {gitSha !== undefined && (
            <>
              <dt>Commit</dt>
              <dd>
                <Commit repo={run.repo} sha={gitSha} />{" "}
                <a
                  class="small"
                  href={codeUrl(c, { repo: run.repo, workspaceId: run.workspaceId, path: "", ref: gitSha })}
                >
                  browse its files
                </a>
              </dd>
            </>
          )}
          <dt>Started</dt>
          <dd>
            <Time at={run.createdAt} />
          </dd>
          {run.finishedAt !== null && (
            <>
              <dt>Ended</dt>
              <dd>
                <Time at={run.finishedAt} />, after {duration(run)}
              </dd>
            </>
          )}
          <dt>Run id</dt>
          <dd>
            <code>{run.runId}</code>
          </dd>
        </dl>
      </div>
    </Panel>
  );
}

/** The next step after an error, if one is known. */
function nextStep(error: TeamRun["error"]): string | undefined {
  const reason = error?.details?.["reason"];
  return NEXT_STEPS[typeof reason === "string" ? reason : ""] ?? NEXT_STEPS[error?.code ?? "INTERNAL"];
}

/** Figures of a run beside those of the successful one before. */
export function ComparisonPanel({ c, run, before }: { c: DashboardContext; run: TeamRun; before: RunRow }) {
  const rows = FIGURES.map(([name, label]) => [label, figureOf(before, name), figureOf(run, name)] as const);
  const [old, current] = [new Map(skippedOf(before)), new Map(skippedOf(run))];
  const reasons = [...new Set([...old.keys(), ...current.keys()])].map(
    (reason) => [leftOutText(reason), old.get(reason) ?? 0, current.get(reason) ?? 0] as const,
  );
  return (
    <Panel
      title="Compared with the run before"
      text={
        <>
          The last successful run of the same ref, <a href={tenantPath(c, `runs/${before.runId}`)}>started </a>
          <Time at={before.createdAt} />, took {duration(before)}; this one took {duration(run)}.
        </>
      }
    >
      <Table label="Comparison" headings={["Figure", { num: "Before" }, { num: "This run" }, { num: "Change" }]}>
        {[...rows, ...reasons].map(
          ([label, was, is]) =>
            was !== undefined &&
            is !== undefined && (
              <tr>
                <th scope="row">{label}</th>
                <td class="num">{formatCount(was)}</td>
                <td class="num">{formatCount(is)}</td>
                <td class="num">{is === was ? "–" : `${is > was ? "+" : "−"}${formatCount(Math.abs(is - was))}`}</td>
              </tr>
            ),
        )}
      </Table>
    </Panel>
  );
}
