import { RUN_STATES, type RunFilter, type TeamRun, type Trigger, TRIGGERS } from "../../../service/dashboard/runs.ts";
import { type DashboardContext, tenantPath } from "../app/context.ts";
import { Field, Select } from "./parts.tsx";
import { nameOf } from "./repositories.tsx";
import { duration, Result, RunLink } from "./runs.tsx";
import { RunTag } from "./state.tsx";
import { Table, TimeCell } from "./table.tsx";

const TRIGGER_NAMES: Record<Trigger, string> = { person: "A person", hook: "A push hook", key: "A key" };

/** Who or what started a run. */
export function triggerOf({ actor, actorName }: Pick<TeamRun, "actor" | "actorName">): string {
  if (actor === null) return "not recorded";
  if (actor.startsWith("hook:")) return "push hook";
  if (actor.startsWith("user:")) return actorName ?? "a former user";
  return actorName === null ? "key" : `key ${actorName}`;
}

/** Runs of all repositories. */
export function TeamRunsTable({ c, runs }: { c: DashboardContext; runs: TeamRun[] }) {
  return (
    <Table label="Runs" headings={["Repository, run", "State", "Result", "Trigger", "Started", { num: "Took" }]}>
      {runs.map((run) => (
        <tr>
          <th scope="row">
            <a class="clip" href={tenantPath(c, `repositories/${run.workspaceId}`)} title={nameOf(run)}>
              {nameOf(run)}
            </a>
            <div class="reason">
              <RunLink run={run} runsPath={tenantPath(c, "runs")} />
            </div>
          </th>
          <td>
            <RunTag state={run.state} />
          </td>
          <td class="wide">
            <Result run={run} repo={run.repo} />
          </td>
          <td data-label="By">
            <span class="clip">{triggerOf(run)}</span>
          </td>
          <TimeCell at={run.createdAt} label="Started" />
          <td class="num" data-label="Took">
            {duration(run)}
          </td>
        </tr>
      ))}
    </Table>
  );
}

interface FiltersProps {
  c: DashboardContext;
  filter: RunFilter;
  /** The filter's repository, as it was asked for or by its name; empty for all. */
  repository: string;
  /** Names of those that can be chosen. */
  names: readonly string[];
}

/** Form of the list's filters. */
export function RunFilters({ c, filter, repository, names }: FiltersProps) {
  const local = (date: Date | undefined) => date?.toISOString().slice(0, 16) ?? "";
  return (
    <form method="get" role="search" aria-label="Runs" class="finder">
      <div class="row">
        <Field label="Repository" name="repository">
          <input
            id="field-repository"
            type="text"
            name="repository"
            value={repository}
            list="repositories"
            placeholder="all"
            maxlength={2000}
          />
          <datalist id="repositories">
            {names.map((name) => (
              <option value={name}></option>
            ))}
          </datalist>
        </Field>
        <Select
          label="State"
          name="state"
          value={filter.state ?? ""}
          options={[["", "Any state"], ...RUN_STATES.map((state) => [state, state] as const)]}
        />
        <Select
          label="Started by"
          name="trigger"
          value={filter.trigger ?? ""}
          options={[["", "Anything"], ...TRIGGERS.map((trigger) => [trigger, TRIGGER_NAMES[trigger]] as const)]}
        />
        <Field label="From (UTC)" name="from" type="datetime-local" value={local(filter.from)} fit />
        <Field label="To (UTC)" name="to" type="datetime-local" value={local(filter.to)} fit />
        <button type="submit">Show</button>
        {filter.workspaceId !== undefined && (
          <a class="button quiet" href={tenantPath(c, "runs")}>
            Show all
          </a>
        )}
      </div>
    </form>
  );
}
