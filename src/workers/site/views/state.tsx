import type { RepositoryRow, RunState } from "../../../service/dashboard/repositories.ts";

const TONES: Record<RunState, string> = {
  queued: "tag busy",
  running: "tag busy",
  succeeded: "tag ok",
  failed: "tag bad",
  cancelled: "tag",
};

/** State of a run as a coloured tag. */
export function RunTag({ state }: { state: RunState }) {
  const isBusy = isActive(state);
  return (
    <span class={TONES[state] ?? "tag"}>
      {isBusy && <span class="dot" />} {state}
    </span>
  );
}

/** Whether a run has not ended. */
export function isActive(state: RunState | undefined): boolean {
  return state === "queued" || state === "running";
}

/** State of a repository's index as a coloured tag. */
export function IndexTag({ repository }: { repository: Pick<RepositoryRow, "index" | "lastRun"> }) {
  const { index, lastRun } = repository;
  if (isActive(lastRun?.state))
    return (
      <span class="tag busy">
        <span class="dot" /> indexing
      </span>
    );
  if (index === null)
    return lastRun?.state === "failed" ? <span class="tag bad">failed</span> : <span class="tag">not indexed</span>;
  return lastRun?.state === "failed" ? (
    <span class="tag warn">last run failed</span>
  ) : (
    <span class="tag ok">indexed</span>
  );
}

/** URL of a commit on its git host; undefined for unknown hosts. */
function commitUrl(repo: string | null, sha: string): string | undefined {
  if (repo === null) return undefined;
  if (repo.startsWith("github.com/")) return `https://${repo}/commit/${sha}`;
  if (repo.startsWith("gitlab.com/")) return `https://${repo}/-/commit/${sha}`;
  if (repo.startsWith("bitbucket.org/")) return `https://${repo}/commits/${sha}`;
  return undefined;
}

/** A commit, linked to its git host if that is known. */
export function Commit({ repo, sha }: { repo: string | null; sha: string }) {
  const url = commitUrl(repo, sha);
  const short = <code>{sha.slice(0, 8)}</code>;
  return url === undefined ? (
    short
  ) : (
    <a href={url} rel="noreferrer">
      {short}
    </a>
  );
}
