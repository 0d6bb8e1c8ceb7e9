import type { Child } from "hono/jsx";
import { figureOf, gitShaOf, type RunRow } from "../../../service/dashboard/repositories.ts";
import type { RunStatus } from "../../../contract/indexing.ts";
import { formatCount, formatNumberOf } from "./format.ts";
import { Confirm, Empty, Panel } from "./parts.tsx";
import { ACTIONS, Table, TimeCell } from "./table.tsx";
import { Commit, isActive, RunTag } from "./state.tsx";

/** A run, with its coordinator's progress while it is active. */
export type ShownRun = RunRow & { progress?: RunStatus["progress"] };

/** The runs of a repository, refreshed by the script while one of them is active. */
export function RunsPanel({
  runs,
  repo,
  cancelBase,
  runsPath,
  pager,
}: {
  runs: ShownRun[];
  repo: string | null;
  /** Path of the team's runs, below which each has its page. */
  runsPath: string;
  /** Path for cancelling runs; undefined if the user may not. */
  cancelBase: string | undefined;
  pager: Child;
}) {
  const isBusy = runs.some(({ state }) => isActive(state));
  return (
    <div id="runs" aria-live="polite" data-refresh={isBusy ? "1" : "5"}>
      <Panel title="Runs">
        {runs.length === 0 ? (
          <Empty title="No run yet">
            <p>A run pulls the repository, parses the changes and makes them searchable.</p>
          </Empty>
        ) : (
          <Table label="Runs" headings={["Run", "State", "Result", "Started", { num: "Took" }, ACTIONS]}>
            {runs.map((run) => (
              <tr>
                <th scope="row">
                  <RunLink run={run} runsPath={runsPath} />
                </th>
                <td>
                  <RunTag state={run.state} />
                </td>
                <td class="wide">
                  <Result run={run} repo={repo} />
                </td>
                <TimeCell at={run.createdAt} label="Started" />
                <td class="num" data-label="Took">
                  {duration(run)}
                </td>
                <td class="actions">
                  {cancelBase !== undefined && isActive(run.state) && (
                    <CancelRun action={`${cancelBase}/${run.runId}/cancel`} subject={run.ref ?? "default branch"} />
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
        {pager}
      </Panel>
    </div>
  );
}

/** A run's kind and ref, as a link to its page below `runsPath`. */
export function RunLink({ run, runsPath }: { run: RunRow; runsPath: string }) {
  return (
    <a href={`${runsPath}/${run.runId}`}>
      {run.kind} <span class="soft">{run.ref ?? "default branch"}</span>
    </a>
  );
}

/** Button that cancels a run. */
export function CancelRun({ action, subject = "" }: { action: string; subject?: string }) {
  return (
    <Confirm
      label="Cancel …"
      subject={`the run ${subject}`}
      title="Cancel the run?"
      question="The run stops; the current index does not change."
      action={action}
      button="Cancel the run"
    />
  );
}

/** What a run has done so far, or its outcome. */
export function Result({ run, repo }: { run: ShownRun; repo: string | null }) {
  const { result, error, progress } = run;
  if (isActive(run.state)) {
    const { filesDone = 0, filesTotal = 0, phase = "queued", silentSec } = progress ?? {};
    return (
      <>
        <progress max={Math.max(1, filesTotal)} value={filesDone} aria-label={`Progress: ${phase}`} />
        <span class="small soft">
          {phase}
          {filesTotal > 0 && `, ${formatCount(filesDone)} of ${formatNumberOf(filesTotal, "file")}`}
          {silentSec !== undefined && `, nothing has arrived for ${silentSec} s`}
        </span>
      </>
    );
  }
  if (error) return <span>{error.error ?? error.code ?? "failed"}</span>;
  if (!result) return <span class="soft">–</span>;
  const gitSha = gitShaOf(run);
  const count = (name: string) => figureOf(run, name) ?? 0;
  const [embedded, unchanged] = run.kind === "index" ? [count("embeddedCount"), count("skippedUnchanged")] : [0, 0];
  return (
    <span>
      {gitSha !== undefined && <Commit repo={repo} sha={gitSha} />} {formatNumberOf(count("fileCount"), "file")}
      {embedded > 0 && `, ${formatNumberOf(embedded, "chunk")} embedded`}
      {unchanged > 0 && `, ${formatCount(unchanged)} unchanged`}
    </span>
  );
}

/** Time of a run from its start to its end. */
export function duration({ createdAt, finishedAt }: Pick<RunRow, "createdAt" | "finishedAt">): string {
  if (finishedAt === null) return "–";
  const seconds = (Date.parse(finishedAt) - Date.parse(createdAt)) / 1_000;
  return seconds < 60
    ? `${Math.max(0, seconds).toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
