/** The revisions of a repository that are kept, as the history of a file or folder. */
import type { FileChange, FileRevision } from "../../../service/dashboard/file-history.ts";
import type { KeptRevision } from "../../../service/dashboard/repositories.ts";
import { codeUrl, type Place } from "../app/code.ts";
import { type DashboardContext, tenantPath } from "../app/context.ts";
import { formatCount } from "./format.ts";
import { Table, TimeCell } from "./table.tsx";

interface HistoryProps<Revision> {
  c: DashboardContext;
  place: Place;
  revisions: readonly Revision[];
  /** Commit that the page shows. */
  shown: string | undefined;
}

const CHANGES: Record<Exclude<FileChange, "absent">, string> = {
  added: "added",
  changed: "changed",
  removed: "removed",
  same: "not changed",
  oldest: "oldest that is kept",
};

/** Revisions that changed a file, besides the current and the shown one, with links to the file and to a comparison. */
export function FileHistory({ c, place, revisions, shown }: HistoryProps<FileRevision>) {
  const changed = revisions.filter(({ change }) => change === "added" || change === "changed" || change === "removed");
  const listed = revisions.filter(
    (revision) =>
      revision.change !== "absent" &&
      (changed.includes(revision) || revision.change === "oldest" || revision.isCurrent || revision.gitSha === shown),
  );
  if (revisions.length < 2) return <></>;
  return (
    <details class="panel history" id="history">
      <summary>
        History{" "}
        <span class="soft">
          changed in {formatCount(changed.length)} of {formatCount(revisions.length)} revisions that are kept
        </span>
      </summary>
      <Table
        label="Revisions"
        fits
        headings={["Commit", "File", "Compare", { minor: "Last of" }, { minor: "Indexed" }]}
      >
        {listed.map((revision) => (
          <tr>
            <CommitCell c={c} place={place} revision={revision} shown={shown} isGone={revision.change === "removed"} />
            <td>{revision.change !== "absent" && CHANGES[revision.change]}</td>
            <td>
              {revision.gitSha === shown ? (
                "–"
              ) : (
                <a href={compareUrl(c, place, revision.gitSha)}>
                  Compare<span class="sr"> {revision.gitSha.slice(0, 8)} with the shown one</span>
                </a>
              )}
            </td>
            <RefsCell refs={revision.refs} />
            <TimeCell at={revision.indexedAt} minor />
          </tr>
        ))}
      </Table>
    </details>
  );
}

/** All of them, each with this folder as it was. */
export function Revisions({ c, place, revisions, shown }: HistoryProps<KeptRevision>) {
  if (revisions.length < 2) return <></>;
  return (
    <details class="panel history" id="history">
      <summary>
        History <span class="soft">{formatCount(revisions.length)} revisions that are kept</span>
      </summary>
      <Table label="Revisions" fits headings={["Commit", "Indexed", { minor: "Last of" }, { minor: "Run" }]}>
        {revisions.map((revision) => (
          <tr>
            <CommitCell c={c} place={place} revision={revision} shown={shown} />
            <TimeCell at={revision.indexedAt} />
            <RefsCell refs={revision.refs} />
            <td class="minor">
              <a href={tenantPath(c, `runs/${revision.runId}`)}>
                Run<span class="sr"> of {revision.gitSha.slice(0, 8)}</span>
              </a>
            </td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

function CommitCell({
  c,
  place,
  revision: { gitSha, isCurrent },
  shown,
  isGone = false,
}: {
  c: DashboardContext;
  place: Place;
  revision: KeptRevision;
  shown: string | undefined;
  /** The revision has no such file. */
  isGone?: boolean;
}) {
  const short = <code>{gitSha.slice(0, 8)}</code>;
  return (
    <th scope="row">
      {isGone ? (
        short
      ) : (
        <a href={codeUrl(c, { ...place, ref: gitSha })} {...(gitSha === shown && { "aria-current": "page" })}>
          {short}
        </a>
      )}{" "}
      {isCurrent && <span class="tag ok">current</span>} {gitSha === shown && <span class="tag">shown</span>}
    </th>
  );
}

function RefsCell({ refs }: { refs: readonly string[] }) {
  return (
    <td class="minor">
      <span class="clip" title={refs.join(", ")}>
        {refs.join(", ") || "–"}
      </span>
    </td>
  );
}

/** Address of the comparison of a file in a revision with the shown one. */
function compareUrl(c: DashboardContext, place: Place, gitSha: string): string {
  const page = codeUrl(c, { ...place, startLine: undefined, endLine: undefined });
  return `${page}${page.includes("?") ? "&" : "?"}compare=${gitSha}`;
}
