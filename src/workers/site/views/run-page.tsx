/** Panels of a run's page. */
import type { CoverageResponse } from "../../../contract/exact.ts";
import { figureOf, gitShaOf, type RunRow } from "../../../service/dashboard/repositories.ts";
import type { TeamRun } from "../../../service/dashboard/runs.ts";
import { codeUrl } from "../app/code.ts";
import { type DashboardContext, tenantPath } from "../app/context.ts";
import { formatCount } from "./format.ts";
import { Empty, Form, Panel, Time } from "./parts.tsx";
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
              <button class="primary">Index the default branch again</button>
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
                <Commit repo={run.repo} sha={gitSha} />
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
  return NEXT_STEPS[typeof reason === "string" ? reason : ""] ?? NEXT_STEPS[error?.code ?? ""];
}

const FIGURES: readonly (readonly [name: string, label: string])[] = [
  ["fileCount", "Files indexed"],
  ["skippedUnchanged", "of them with known content"],
  ["partialCount", "of them with lines that the parser could not read"],
  ["fallbackCount", "of them not parsed as their language"],
  ["symbolCount", "Symbols"],
  ["chunkCount", "Chunks"],
  ["embeddedCount", "Chunks embedded by this run"],
  ["redactedCount", "Chunks withheld: they may hold a secret"],
];

const REASONS: Record<string, string> = {
  unknown_type: "type not known",
  too_large: "too large",
  binary: "binary",
  lfs: "Git LFS pointer",
  generated: "generated",
  minified: "minified",
  symlink: "symbolic link",
  submodule: "submodule",
  excluded: "excluded by a glob",
  vendored: "vendored",
};

/** Name of a reason for which a file is left out. */
const reasonText = (reason: string) => REASONS[reason] ?? reason.replaceAll("_", " ");

const leftOutText = (reason: string) => `Left out: ${reasonText(reason)}`;

/** Counts of files that the run left out, by reason, most first. */
function skippedOf({ result }: RunRow): [reason: string, count: number][] {
  const skipped = result?.["skipped"];
  if (typeof skipped !== "object" || skipped === null) return [];
  return Object.entries(skipped)
    .filter((entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] > 0)
    .toSorted((a, b) => b[1] - a[1]);
}

/** Files by outcome and reason, with the paths of those that are not indexed, while the commit is. */
export function FilesPanel({
  c,
  run,
  coverage,
}: {
  c: DashboardContext;
  run: TeamRun;
  coverage: CoverageResponse | undefined;
}) {
  const skipped = skippedOf(run);
  const gitSha = gitShaOf(run);
  return (
    <Panel title="Files">
      <Table label="Files by outcome" headings={["Outcome", { num: "Count" }]}>
        {[
          ...FIGURES.map(([name, label]) => [label, figureOf(run, name)] as const),
          ...skipped.map(([reason, count]) => [leftOutText(reason), count] as const),
        ].map(
          ([label, count]) =>
            count !== undefined && (
              <tr>
                <th scope="row">{label}</th>
                <td class="num">{formatCount(count)}</td>
              </tr>
            ),
        )}
      </Table>
      {coverage === undefined ? (
        <Empty title="No list of paths">
          <p>The paths are kept while the commit is indexed; a later run has taken its place.</p>
        </Empty>
      ) : coverage.paths.length === 0 ? (
        <Empty title="Every file is indexed" />
      ) : (
        <>
          <Table label="Files that are not indexed" headings={["Path", "State", "Reason"]}>
            {coverage.paths.map(({ path, state, reason }) => (
              <tr>
                <th scope="row">
                  {state === "searched" ? (
                    <a
                      class="clip"
                      title={path}
                      href={codeUrl(c, { repo: run.repo, workspaceId: run.workspaceId, path, ref: gitSha })}
                    >
                      {path}
                    </a>
                  ) : (
                    <span class="clip" title={path}>
                      {path}
                    </span>
                  )}
                </th>
                <td>{state === "searched" ? "searched, not ranked" : "not searched"}</td>
                <td>{reason === undefined ? "–" : reasonText(reason)}</td>
              </tr>
            ))}
          </Table>
          {coverage.truncated && <p class="body soft">The first {formatCount(coverage.paths.length)} are listed.</p>}
        </>
      )}
    </Panel>
  );
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
