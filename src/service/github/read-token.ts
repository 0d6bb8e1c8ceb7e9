/** The token with which a run reads a repository of a GitHub App: made when the run reads, and kept in memory only. */
import { and, eq } from "drizzle-orm";
import { GitError } from "../../engines/git/errors.ts";
import type { Db } from "../db/client.ts";
import { githubApps } from "../db/github-schema.ts";
import { type AccessLost, repositorySources } from "../db/people-schema.ts";
import { originOf } from "../sources/read-token.ts";
import { GithubError } from "./client.ts";
import { type AppDeps, mintReadToken } from "./installations.ts";

/** User name with which git sends the token of an installation. */
const USERNAME = "x-access-token";

/** What an App's loss of access means, and what to do. */
export const LOST_TEXTS: Record<AccessLost, string> = {
  suspended: "its GitHub App is suspended: unsuspend it in the settings of the account at GitHub",
  repository_removed:
    "its GitHub App can no longer read it: select the repository again in the App's installation at GitHub",
  uninstalled: "its GitHub App is uninstalled: install it again at GitHub, and choose the repository again",
  app_removed: "its GitHub App was removed from the team: connect it through another one, or set a read token",
};

/**
 * Credentials for a run of a workspace whose source is read by an App. Marks the source if the App has lost its access, and unmarks it when it
 * is back. Throws `GitError`: `AUTH` without access, `NETWORK` if GitHub does not answer.
 */
export async function appReadToken(
  deps: AppDeps & { db: Db },
  { workspaceId, url }: { workspaceId: string; url: string },
): Promise<{ token: string; username: string }> {
  const { accessLost, installationId, repositoryId } = repositorySources;
  const { id, origin, appId, sealedSecret } = githubApps;
  const [row] = await deps.db
    .select({ id, origin, appId, sealedSecret, installationId, repositoryId, accessLost })
    .from(repositorySources)
    .innerJoin(githubApps, eq(githubApps.id, repositorySources.appId))
    .where(eq(repositorySources.workspaceId, workspaceId));
  if (row?.installationId == null || row.repositoryId === null || originOf(url) !== row.origin)
    throw new GitError("AUTH", LOST_TEXTS.app_removed);
  const mark = async (lost: AccessLost | null) => {
    if (lost === row.accessLost) return;
    const own = and(eq(repositorySources.workspaceId, workspaceId), eq(repositorySources.appId, row.id));
    await deps.db.update(repositorySources).set({ accessLost: lost }).where(own);
  };
  const place = { installationId: row.installationId, repositoryId: row.repositoryId };
  try {
    const token = await mintReadToken(deps, row, place);
    await mark(null);
    return { token, username: USERNAME };
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    const lost = LOST_AT[error.status];
    if (lost === undefined) throw new GitError("NETWORK", error.message, { status: error.status });
    // An event of GitHub may have said it more exactly.
    const known = row.accessLost ?? lost;
    await mark(known);
    throw new GitError("AUTH", LOST_TEXTS[known], { status: error.status });
  }
}

/** What a refused token means, by the status of the answer. */
const LOST_AT: Readonly<Record<number, AccessLost>> = {
  // The App was deleted, or its key revoked.
  401: "uninstalled",
  403: "suspended",
  404: "uninstalled",
  422: "repository_removed",
};
