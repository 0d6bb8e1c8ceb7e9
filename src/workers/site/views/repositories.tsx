import type { RepositoryRow } from "../../../service/dashboard/repositories.ts";
import { LOST_TEXTS } from "../../../service/github/read-token.ts";
import { codeUrl } from "../app/code.ts";
import { type DashboardContext, tenantPath } from "../app/context.ts";
import { formatBytes, formatCount, formatNumberOf } from "./format.ts";
import { Field, Time } from "./parts.tsx";
import { Table, TimeCell } from "./table.tsx";
import { Commit, IndexTag } from "./state.tsx";

/** Table of a tenant's repositories. With `selects`, each row has a checkbox `ids` for the form around the table. */
export function RepositoryTable({
  c,
  rows,
  selects,
}: {
  c: DashboardContext;
  rows: RepositoryRow[];
  selects: boolean;
}) {
  return (
    <Table
      label="Repositories"
      headings={[
        ...(selects ? [{ sr: "Select" }] : []),
        "Repository",
        "Index",
        "Commit",
        { num: "Files" },
        { num: "Symbols" },
        "Indexed",
        "Snapshot",
        "Hook",
      ]}
    >
      {rows.map((row) => (
        <tr>
          {selects && (
            <td class="pick">
              <input type="checkbox" name="ids" value={row.workspaceId} aria-label={`Select ${nameOf(row)}`} />
            </td>
          )}
          <th scope="row">
            <a class="clip" href={tenantPath(c, `repositories/${row.workspaceId}`)} title={nameOf(row)}>
              {nameOf(row)}
            </a>
            {row.source?.accessLost != null && (
              <div class="small soft reason">No longer indexed, because {LOST_TEXTS[row.source.accessLost]}.</div>
            )}
            {row.source?.accessLost == null && row.lastRun?.state === "failed" && (
              <div class="small soft reason">
                <a href={tenantPath(c, `runs/${row.lastRun.runId}`)}>
                  {row.lastRun.error ?? "The run ended without a reason."}
                </a>
              </div>
            )}
          </th>
          <td>
            <IndexTag repository={row} />
          </td>
          <td data-label="Commit">
            {row.index ? <Commit repo={row.repo} sha={row.index.gitSha} /> : <span class="soft">–</span>}
          </td>
          <td class="num" data-label="Files">
            {row.index ? (
              <a href={codeUrl(c, { ...row, path: "" })}>
                {formatCount(row.index.fileCount)}
                <span class="sr"> files of {nameOf(row)}</span>
              </a>
            ) : (
              "–"
            )}
          </td>
          <td class="num" data-label="Symbols">
            {row.index ? formatCount(row.index.symbolCount) : "–"}
          </td>
          <TimeCell at={row.index?.indexedAt ?? null} label="Indexed" />
          <td data-label="Snapshot">
            {row.snapshot ? formatBytes(row.snapshot.sizeBytes) : <span class="soft">none</span>}
          </td>
          <td data-label="Hook">
            {row.hooks.length === 0 ? (
              <span class="soft">none</span>
            ) : (
              row.hooks.map((hook) => hook.provider).join(", ")
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Form fields of a repository's source; empty without `repository`. */
export function SourceFields({ repository }: { repository?: RepositoryRow }) {
  const source = repository?.source;
  return (
    <>
      <Field
        label="Clone address"
        name="url"
        value={source?.cloneUrl ?? (repository?.repo ? `https://${repository.repo}` : "")}
        placeholder="https://github.com/owner/name"
        required
        maxlength={2000}
        hint="Or git@host:owner/name, or the address of its page in a browser. Without a password in it."
      />
      <Field
        label={
          source?.hasToken ? "Read token (stored; leave empty to keep it)" : "Read token (private repositories only)"
        }
        name="token"
        type="password"
        autocomplete="new-password"
        maxlength={4096}
        hint="Stored encrypted, for the host of this address only, and never shown again. Give it read access to this repository only."
      />
      <Field
        label="User name of the token"
        name="tokenUsername"
        value={source?.tokenUsername ?? ""}
        autocomplete="off"
        maxlength={200}
        hint="Only if the host requires a specific one."
      />
      {source?.hasToken && (
        <div class="field">
          <label class="check">
            <input type="checkbox" name="removeToken" /> Remove the read token
          </label>
        </div>
      )}
      <Field
        label="Other branches to index"
        name="branches"
        hint="One pattern per line, such as release/*. The default branch is always indexed."
      >
        <textarea id="field-branches" name="branches" aria-describedby="field-branches-hint" rows={3}>
          {(source?.branches ?? []).join("\n")}
        </textarea>
      </Field>
    </>
  );
}

/** State of a repository's index and snapshot. */
export function StatePanel({ c, repository }: { c: DashboardContext; repository: RepositoryRow }) {
  const { index, snapshot, source } = repository;
  const lost = source?.accessLost;
  return (
    <section class="panel">
      <div class="body">
        {lost != null && (
          <p class="notice error" role="status">
            No longer indexed, because {LOST_TEXTS[lost]}. What is indexed stays.{" "}
            <a href={tenantPath(c, "github")}>GitHub App</a>
          </p>
        )}
        <dl class="facts">
          <dt>Index</dt>
          <dd>
            <IndexTag repository={repository} />
            {index && (
              <>
                {" "}
                <Commit repo={repository.repo} sha={index.gitSha} /> <Time at={index.indexedAt} />
              </>
            )}
          </dd>
          {index && (
            <>
              <dt>Content</dt>
              <dd>
                {formatNumberOf(index.fileCount, "file")}, {formatNumberOf(index.symbolCount, "symbol")},{" "}
                {formatNumberOf(index.chunkCount, "chunk")}
              </dd>
            </>
          )}
          <dt>Snapshot</dt>
          <dd>
            {snapshot ? (
              <>
                <Commit repo={repository.repo} sha={snapshot.gitSha} /> {formatBytes(snapshot.sizeBytes)},{" "}
                <Time at={snapshot.builtAt} />
              </>
            ) : (
              <span class="soft">none published</span>
            )}
          </dd>
          <dt>Default branch</dt>
          <dd>{repository.defaultBranch ?? <span class="soft">known after the first run</span>}</dd>
          <dt>Read with</dt>
          <dd>{readWith(source)}</dd>
          <dt>Workspace id</dt>
          <dd>
            <code>{repository.workspaceId}</code>
          </dd>
        </dl>
      </div>
    </section>
  );
}

function readWith(source: RepositoryRow["source"]): string {
  if (source === null) return "nothing set up";
  if (source.app !== null) return `the GitHub App ${source.app}`;
  return source.hasToken ? "a read token" : "no token (public)";
}

/** Display name of a repository. */
export function nameOf({ repo, workspaceId }: Pick<RepositoryRow, "repo" | "workspaceId">): string {
  return repo ?? `workspace ${workspaceId.slice(0, 8)}`;
}
