import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { formatBytes, formatCount, plural, table } from "../terminal/ui.ts";

/** Credits, tokens and calls of the month. */
export async function usage(context: Context): Promise<void> {
  const credentials = credentialsOf(context);
  requireApiKey(credentials);
  const client = await createClient(context, credentials);
  const { ok: _, ...usage } = await client.usage({ signal: context.stop });
  context.ui.result(usage, () => {
    const { credits, tokens, calls, period, indexTokens } = usage;
    const share = credits.limit === 0 ? 100 : Math.round((credits.used / credits.limit) * 100);
    return table([
      ["Period", `${period.start.slice(0, 10)} to ${period.end.slice(0, 10)} (UTC)`],
      [
        "Credits",
        `${formatCount(credits.used)} of ${formatCount(credits.limit)} used (${share} %), ${formatCount(credits.remaining)} left`,
      ],
      [
        "Tokens",
        `${formatCount(tokens.embed)} embed, ${formatCount(tokens.rerank)} rerank, ${formatCount(indexTokens)} hosted indexing`,
      ],
      [
        "Calls",
        Object.entries(calls)
          .map(([kind, count]) => `${formatCount(count)} ${kind}`)
          .join(", "),
      ],
    ]);
  });
}

/** Every workspace of the tenant and its snapshot. */
export async function repos(context: Context): Promise<void> {
  const credentials = credentialsOf(context);
  requireApiKey(credentials);
  const client = await createClient(context, credentials);
  const { workspaces, sharedIndexEnabled } = await client.snapshots.list({ signal: context.stop });
  if (!sharedIndexEnabled)
    context.ui.note("The shared index is off: turn it on in the dashboard settings to publish and pull.");
  context.ui.result({ workspaces, sharedIndexEnabled }, () => {
    if (workspaces.length === 0) return "No workspaces yet. `codectx publish` makes one for a repository.";
    const rows = workspaces.map((entry) => [
      entry.repo ?? entry.workspaceId,
      entry.gitSha?.slice(0, 10) ?? "-",
      entry.builtAt?.slice(0, 16).replace("T", " ") ?? "no snapshot",
      entry.sizeBytes === null ? "-" : formatBytes(entry.sizeBytes),
      entry.fileCount === null ? "-" : plural(entry.fileCount, "file"),
    ]);
    const lines = table([["REPOSITORY", "COMMIT", "BUILT (UTC)", "SIZE", "FILES"], ...rows]);
    if (workspaces.every(({ builtAt }) => builtAt !== null)) return lines;
    return [
      lines,
      "",
      "Without a snapshot: `codectx publish` builds one here, `codectx snapshot` lets the service build it.",
    ].flat();
  });
}
