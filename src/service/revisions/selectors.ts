import { sql, type SQL } from "drizzle-orm";
import { Uuid } from "../../contract/index.ts";
import type { Caller } from "../../interface/questions/code-index.ts";
import { ApiError } from "../../lib/errors.ts";
import { arrayOf } from "../db/arrays.ts";
import { normalizeRepo } from "../tenancy/index.ts";

/** Exactly one way to name a workspace. */
export type Selector = { workspaceId: string } | { repo: string };

/** Checks and normalises a selector. Throws `INVALID_SELECTOR`. */
export function parseSelector(input: { workspaceId?: string | undefined; repo?: string | undefined }): Selector {
  const { workspaceId, repo } = input;
  if ((workspaceId === undefined) === (repo === undefined)) {
    throw new ApiError("INVALID_SELECTOR", "send exactly one of workspaceId and repo");
  }
  if (workspaceId !== undefined) {
    const parsed = Uuid.safeParse(workspaceId);
    if (!parsed.success)
      throw new ApiError(
        "INVALID_SELECTOR",
        "workspaceId: must be the id of a workspace, a UUID; or send repo, such as github.com/owner/name, instead",
      );
    return { workspaceId: parsed.data };
  }
  const identity = normalizeRepo(repo ?? "");
  if (identity === undefined) {
    throw new ApiError("INVALID_SELECTOR", "repo: must be a repository's identity, such as github.com/owner/name");
  }
  return { repo: identity };
}

/** SQL condition on `workspaces w` that a caller may touch. */
export function owns({ tenantId, repos }: Caller): SQL {
  const isOfTenant = sql`w.tenant_id = ${tenantId}::uuid`;
  return repos === undefined ? isOfTenant : sql`${isOfTenant} and w.repo = any(${arrayOf(repos, "text")})`;
}

/** As `owns`, for one workspace. The same work whether it is missing or somebody else's. */
export function selects(owner: Caller, selector: Selector): SQL {
  return "repo" in selector
    ? sql`${owns(owner)} and w.repo = ${selector.repo}`
    : sql`${owns(owner)} and w.id = ${selector.workspaceId}::uuid`;
}
