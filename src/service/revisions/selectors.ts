import { sql, type SQL } from "drizzle-orm";
import { Uuid } from "../../contract/index.ts";
import { ApiError } from "../../lib/errors.ts";
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
    if (!parsed.success) throw new ApiError("INVALID_SELECTOR", "workspaceId: must be a UUID");
    return { workspaceId: parsed.data };
  }
  const identity = normalizeRepo(repo ?? "");
  if (identity === undefined) {
    throw new ApiError("INVALID_SELECTOR", "repo: must be a repository's identity, such as github.com/owner/name");
  }
  return { repo: identity };
}

/** SQL condition on `workspaces w` of a tenant. The same work whether the workspace is missing or another tenant's. */
export function selects(tenantId: string, selector: Selector): SQL {
  return "repo" in selector
    ? sql`w.tenant_id = ${tenantId}::uuid and w.repo = ${selector.repo}`
    : sql`w.tenant_id = ${tenantId}::uuid and w.id = ${selector.workspaceId}::uuid`;
}
