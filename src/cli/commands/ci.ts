import { appendFileSync } from "node:fs";
import type { CodeContextClient } from "../../interface/client/client.ts";
import { CodeContextError } from "../../interface/client/errors.ts";
import { visible } from "../../lib/display.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { EXIT, toCliError } from "../exit-codes.ts";
import { isAncestor, resolveCommit } from "../git/git.ts";
import type { IndexStore } from "../indexing/store.ts";
import { findProject, requireGit, requireRepo, type Project } from "../project.ts";
import { withWriter } from "../indexing/session.ts";
import { fetchSnapshot } from "./pull.ts";
import { describePublished, publishCommit, type Published } from "./publish.ts";

/** Retries when pipelines of one repository publish at the same time. */
const MAX_ROUNDS = 5;

type CiResult = Published & { skipped?: "newer" };

/**
 * `codectx ci`: publishes the checked-out commit from a pipeline. Pulls the current snapshot first, since a runner starts without an
 * index, and then parses and embeds only the changes. Never replaces the snapshot of a newer commit.
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
  if (summary) appendFileSync(summary, `### Code Context\n\n${lines.map(visible).join("\n\n")}\n`);
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
    const { exists, gitSha: current, damaged } = await importCurrent(context, client, project, repo);
    if (exists && !damaged && current !== gitSha && (await isAncestor(project.root, gitSha, current))) {
      return { repo, gitSha, published: false, skipped: "newer" };
    }
    try {
      return await publishCommit(context, { repo, expectedGitSha: exists ? current : null, force: damaged });
    } catch (error) {
      const conflict = error instanceof CodeContextError && error.code === "SNAPSHOT_CONFLICT";
      if (!conflict || round === MAX_ROUNDS) throw error;
      context.ui.note("another pipeline published meanwhile; checking again");
    }
  }
}

type Current = { exists: true; gitSha: string; damaged: boolean } | { exists: false; gitSha: ""; damaged: false };

/** Imports the current snapshot. A damaged one is reported and will be replaced. */
async function importCurrent(
  context: Context,
  client: CodeContextClient,
  project: Project,
  repo: string,
): Promise<Current> {
  const fetch = async (store: IndexStore) => {
    const fetched = await fetchSnapshot(context, client, project, store, repo, { force: false });
    store.settle();
    return fetched;
  };
  try {
    const fetched = await withWriter(context, project, "ci", fetch, { forImport: true });
    return fetched
      ? { exists: true, gitSha: fetched.gitSha, damaged: false }
      : { exists: false, gitSha: "", damaged: false };
  } catch (error) {
    const { exit, message } = toCliError(error);
    if (exit !== EXIT.integrity) throw error;
    const probe = await client.snapshots.probe({ repo }, { signal: context.stop });
    if (!probe.exists) return { exists: false, gitSha: "", damaged: false };
    context.ui.warn(`the published snapshot cannot be used and is replaced: ${message}`);
    return { exists: true, gitSha: probe.gitSha, damaged: true };
  }
}
