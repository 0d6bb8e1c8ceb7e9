import { sql, type SQL } from "drizzle-orm";
import { Uuid } from "../../contract/index.ts";
import { ApiError } from "../../errors.ts";
import { normalizeRepo } from "../../tenancy/index.ts";

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

/** What a query of `GET /index-snapshot` asks for. */
export type SnapshotQuery = { mode: "list" } | { mode: "pull" | "probe"; selector: Selector };

/** Reads the query string of `GET /index-snapshot`. Throws `INVALID_SELECTOR`. */
export function parseQuery(query: URLSearchParams): SnapshotQuery {
  const only = (name: string): string | undefined => {
    const values = query.getAll(name);
    if (values.length > 1) throw new ApiError("INVALID_SELECTOR", `${name}: must be given once`);
    return values[0];
  };
  const flag = (name: string): boolean => {
    const value = only(name);
    if (value !== undefined && value !== "1" && value !== "0")
      throw new ApiError("INVALID_SELECTOR", `${name}: must be 1`);
    return value === "1";
  };
  const input = { workspaceId: only("workspaceId"), repo: only("repo") };
  const probe = flag("probe");
  if (flag("list")) {
    if (probe || input.workspaceId !== undefined || input.repo !== undefined) {
      throw new ApiError("INVALID_SELECTOR", "list=1 takes no selector and no probe");
    }
    return { mode: "list" };
  }
  return { mode: probe ? "probe" : "pull", selector: parseSelector(input) };
}

/** SQL condition on `workspaces w` of a tenant. The same work whether the workspace is missing or another tenant's. */
export function selects(tenantId: string, selector: Selector): SQL {
  return "repo" in selector
    ? sql`w.tenant_id = ${tenantId}::uuid and w.repo = ${selector.repo}`
    : sql`w.tenant_id = ${tenantId}::uuid and w.id = ${selector.workspaceId}::uuid`;
}
