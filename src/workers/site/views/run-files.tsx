/** Panel of a run's page: its files by outcome and reason, with their paths. */
import { gitShaOf, type RunRow, figureOf } from "../../../service/dashboard/repositories.ts";
import type { ParseOutcome } from "../../../service/dashboard/run-files.ts";
import type { TeamRun } from "../../../service/dashboard/runs.ts";
import { codeUrl } from "../app/code.ts";
import { type DashboardContext, tenantPath } from "../app/context.ts";
import { formatCount } from "./format.ts";
import { Empty, Panel } from "./parts.tsx";
import { reasonText } from "./reasons.ts";
import { Table } from "./table.tsx";

export const FIGURES: readonly (readonly [name: string, label: string, outcome?: ParseOutcome])[] = [
  ["fileCount", "Files indexed"],
  ["skippedUnchanged", "of them with known content"],
  ["partialCount", "of them with lines that the parser could not read", "partial"],
  ["fallbackCount", "of them not parsed as their language", "fallback"],
  ["symbolCount", "Symbols"],
  ["chunkCount", "Chunks"],
  ["embeddedCount", "Chunks embedded by this run"],
  ["redactedCount", "Chunks withheld: they may hold a secret", "redacted"],
];

const OUTCOMES: Record<ParseOutcome, string> = {
  partial: "Files with lines that the parser could not read",
  fallback: "Files not parsed as their language",
  redacted: "Files with chunks withheld",
};

export const leftOutText = (reason: string) => `Left out: ${reasonText(reason)}`;

/** Counts of files that the run left out, by reason, most first. */
export function skippedOf({ result }: RunRow): [reason: string, count: number][] {
  const skipped = result?.["skipped"];
  if (typeof skipped !== "object" || skipped === null) return [];
  return Object.entries(skipped)
    .filter((entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] > 0)
    .toSorted((a, b) => b[1] - a[1]);
}

/** A page of paths. */
export interface ListedPaths {
  /** Outcome or reason that is listed; undefined for all files that are not indexed. */
  chosen: string | undefined;
  files: { path: string; detail: string; isReadable: boolean }[];
  /** `after` of the next page. */
  next: string | undefined;
  isFirst: boolean;
}

/** What is shown of a file that is left out. */
export const leftOut = ({ path, state, reason }: { path: string; state: string; reason?: string | undefined }) => ({
  path,
  detail: `${reason === undefined ? "not indexed" : reasonText(reason)}; ${state === "searched" ? "found by its text" : "not searched"}`,
  isReadable: state === "searched",
});

/** Files by outcome and reason, with the paths of those that are chosen, while the commit is indexed. */
export function FilesPanel({
  c,
  run,
  paths,
}: {
  c: DashboardContext;
  run: TeamRun;
  /** Undefined if the commit is no longer indexed. */
  paths: ListedPaths | undefined;
}) {
  const base = tenantPath(c, `runs/${run.runId}`);
  const rows: (readonly [label: string, count: number | undefined, chosen?: string | undefined])[] = [
    ...FIGURES.map(([name, label, outcome]) => [label, figureOf(run, name), outcome] as const),
    ...skippedOf(run).map(([reason, count]) => [leftOutText(reason), count, reason] as const),
  ];
  return (
    <Panel title="Files">
      <Table label="Files by outcome" headings={["Outcome", { num: "Count" }, "Paths"]}>
        {rows.map(
          ([label, count, chosen]) =>
            count !== undefined && (
              <tr>
                <th scope="row">{label}</th>
                <td class="num">{formatCount(count)}</td>
                <td>
                  {chosen !== undefined && count > 0 && paths !== undefined && (
                    <a
                      href={`${base}?files=${encodeURIComponent(chosen)}#paths`}
                      {...(chosen === paths.chosen ? { "aria-current": "true" } : {})}
                    >
                      Show<span class="sr"> {label}</span>
                    </a>
                  )}
                </td>
              </tr>
            ),
        )}
      </Table>
      <div id="paths">
        {paths === undefined ? (
          <Empty title="No list of paths">
            <p>The paths are kept while the commit is indexed; a later run has taken its place.</p>
          </Empty>
        ) : (
          <Paths c={c} run={run} paths={paths} base={base} />
        )}
      </div>
    </Panel>
  );
}

function Paths({ c, run, paths, base }: { c: DashboardContext; run: TeamRun; paths: ListedPaths; base: string }) {
  const { chosen, files, next, isFirst } = paths;
  const gitSha = gitShaOf(run);
  const linkTo = (after?: string) =>
    `${base}?${new URLSearchParams({ ...(chosen !== undefined && { files: chosen }), ...(after !== undefined && { after }) }).toString()}#paths`;
  const title =
    chosen === undefined
      ? "Files that are not indexed"
      : (OUTCOMES[chosen as ParseOutcome] ?? `Files left out: ${reasonText(chosen)}`);
  if (files.length === 0 && isFirst && next === undefined)
    return <Empty title={chosen === undefined ? "Every file is indexed" : "No such file"} />;
  return (
    <>
      <Table label={title} headings={[title, "Reason"]}>
        {files.map(({ path, detail, isReadable }) => (
          <tr>
            <th scope="row">
              {isReadable ? (
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
            <td>{detail}</td>
          </tr>
        ))}
      </Table>
      {files.length === 0 && <p class="body soft">None among the files up to here.</p>}
      {(!isFirst || next !== undefined) && (
        <nav class="pager" aria-label="Pages of files">
          {isFirst ? <span /> : <a href={linkTo()}>First page</a>}
          {next === undefined ? <span /> : <a href={linkTo(next)}>Next</a>}
        </nav>
      )}
      {chosen !== undefined && (
        <p class="body">
          <a href={`${base}#paths`}>All files that are not indexed</a>
        </p>
      )}
    </>
  );
}
