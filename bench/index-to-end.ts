import type { RunningService } from "../src/tooling/local/stack/service.ts";

const POLL_MS = 500;

/** A run that has ended. */
export interface EndedRun {
  state: string;
  result?: { fileCount: number; symbolCount: number };
  error?: { code: string };
}

/** Indexes a repository into a workspace of the service's demo tenant, however long that takes. */
export async function indexToEnd(
  service: RunningService["service"],
  workspaceId: string,
  url: string,
): Promise<EndedRun> {
  const headers = { Authorization: `Bearer ${service.workerToken}`, "Content-Type": "application/json" };
  const submitted = await fetch(`${service.apiUrl}/index`, {
    method: "POST",
    headers: { ...headers, Prefer: "respond-async" },
    body: JSON.stringify({ workspaceId, source: { type: "git", url } }),
  });
  const { runId } = (await submitted.json()) as { runId: string };
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const run = (await (await fetch(`${service.apiUrl}/index/${runId}`, { headers })).json()) as EndedRun;
    if (run.state !== "queued" && run.state !== "running") return run;
  }
}
