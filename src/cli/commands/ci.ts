import { appendFileSync } from "node:fs";
import { CodeContextError } from "../../client/errors.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { isAncestor, resolveCommit } from "../git.ts";
import { findProject, requireGit, requireRepo } from "../project.ts";
import { withWriter } from "../session.ts";
import { fetchSnapshot } from "./pull.ts";
import { describePublished, publishCommit, type Published } from "./publish.ts";

/** Pipelines of one repository that commit at the same moment sort themselves out within a few rounds. */
const MAX_ROUNDS = 5;

type CiResult = Published & { skipped?: "newer" };

/**
 * `codectx ci`: publishes the checked-out commit from a pipeline. A runner starts empty, so the current snapshot is pulled
 * first and only what changed since is parsed and embedded. A newer commit's snapshot is never replaced by an older one's.
 */
export async function ci(context: Context, options: { repo?: string }): Promise<void> {
  const startedAt = performance.now();
  const result = await publishNewest(context, options);
  const durationMs = Math.round(performance.now() - startedAt);
  const lines = result.skipped
    ? [`${result.repo}: a newer commit is published already; nothing to do`]
    : describePublished(result, durationMs);
  context.ui.result({ ...result, durationMs }, () => lines);
  const summary = context.env["GITHUB_STEP_SUMMARY"];
  if (summary) appendFileSync(summary, `### Code Context\n\n${lines.join("\n\n")}\n`);
}

async function publishNewest(context: Context, options: { repo?: string }): Promise<CiResult> {
  const project = await findProject(context);
  requireGit(project);
  const repo = requireRepo(project, options.repo);
  const gitSha = (await resolveCommit(project.root)) ?? "";
  const credentials = credentialsOf(context);
  const apiKey = requireApiKey(credentials);
  const client = await createClient(context, { ...credentials, apiKey });
  for (let round = 1; ; round++) {
    const current = await withWriter(
      context,
      project,
      "ci",
      async (store) => {
        const fetched = await fetchSnapshot(context, client, project, store, repo, { force: false });
        store.settle();
        return fetched;
      },
      { forImport: true },
    );
    if (current && current.gitSha !== gitSha && (await isAncestor(project.root, gitSha, current.gitSha))) {
      return { repo, gitSha, published: false, skipped: "newer" };
    }
    try {
      return await publishCommit(context, { ...options, repo, expectedGitSha: current?.gitSha ?? null });
    } catch (error) {
      const conflict = error instanceof CodeContextError && error.code === "SNAPSHOT_CONFLICT";
      if (!conflict || round === MAX_ROUNDS) throw error;
      context.ui.note("another pipeline published meanwhile; looking again");
    }
  }
}
