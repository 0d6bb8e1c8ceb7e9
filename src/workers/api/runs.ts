/** Shared by the indexing routes: validates sources and workspaces, and starts runs. */
import type { ErrorCode, IndexOptions, Source } from "../../contract/index.ts";
import { ApiError, invalidBody } from "../../lib/errors.ts";
import { databaseOf } from "../../service/db/databases.ts";
import type { Principal } from "../../service/gate/types.ts";
import { checkRepositoryUrl, GitError } from "../../engines/git/index.ts";
import { compileGlobs, GlobError } from "../../lib/globs.ts";
import type { RunSpec } from "../../service/db/run-spec.ts";
import type { RunDeps } from "../../service/runs/runs.ts";
import { type RunRequest, startRun } from "../../service/runs/start.ts";
import { findWorkspace } from "../../service/tenancy/workspaces.ts";
import { mayUseRepo } from "../../service/tenancy/restrictions.ts";
import type { ApiContext } from "./context.ts";
import { storageUnavailable } from "./middleware/authorize.ts";

/** Rejects a source whose URL the service will not contact. `code` is the route's code for a bad source. */
export function checkSource(c: ApiContext, source: Source, code: ErrorCode = "INVALID_BODY"): void {
  try {
    checkRepositoryUrl(source.url, c.get("services").gitHosts);
  } catch (error) {
    if (error instanceof GitError) throw invalidBody([{ path: "source.url", message: error.message }], code);
    throw error;
  }
}

/** Rejects lists of globs that are too long to be matched. Those that turn out to take too long end the run. */
export function checkGlobs(options: IndexOptions): void {
  try {
    for (const name of ["include", "exclude"] as const) compileGlobs(options[name] ?? [], { field: `options.${name}` });
  } catch (error) {
    if (error instanceof GlobError) throw invalidBody([{ path: error.field, message: error.problem }]);
    throw error;
  }
}

/** Checks that the caller may index the workspace. Throws 404, 403, or 502 if the database is unreachable. */
export async function requireWorkspace(c: ApiContext, principal: Principal, workspaceId: string): Promise<void> {
  const workspace = await stored(() => findWorkspace(databaseOf(c.env, principal.tenantId), workspaceId));
  if (!workspace) throw noWorkspace();
  if (workspace.tenantId !== principal.tenantId) {
    throw new ApiError("FORBIDDEN_WORKSPACE", "workspaceId: this worker token does not own the workspace");
  }
  if (!mayUseRepo(principal, workspace.repo)) throw noWorkspace();
}

function noWorkspace(): ApiError {
  return new ApiError("WORKSPACE_NOT_FOUND", "workspaceId: there is no such workspace; create it first");
}

/** Calls the database or a coordinator for the indexing routes; any failure except an `ApiError` becomes `STORAGE_UNAVAILABLE`. */
export async function stored<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw error instanceof ApiError ? error : storageUnavailable(error);
  }
}

/** Dependencies of the run functions in `src/service/runs`. */
export function runDeps(c: ApiContext, { tenantId }: Pick<Principal, "tenantId">): RunDeps {
  return { db: databaseOf(c.env, tenantId), coordinators: c.env.WORKSPACE_RUNS };
}

/** Starts a run for the caller; its coordinator counts the call. */
export async function startCallersRun(
  c: ApiContext,
  principal: Principal,
  request: Omit<RunRequest, "tenantId" | "actor">,
): Promise<RunSpec> {
  const { tenantId, credentialId: actor } = principal;
  const deps = { ...runDeps(c, principal), encryptionKey: c.env.ENCRYPTION_KEY };
  const starting = startRun(deps, { ...request, tenantId, actor });
  // A recorded run must also be submitted, even if the client disconnects in between.
  c.executionCtx.waitUntil(starting.catch(() => undefined));
  return stored(() => starting);
}
