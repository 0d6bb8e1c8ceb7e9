import { eq } from "drizzle-orm";
import { recordAuditStatement } from "../audit/index.ts";
import type { Db } from "../db/client.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { workspaces } from "../db/schema.ts";
import { TenancyError } from "./errors.ts";
import { checkUuid } from "./fields.ts";
import { normalizeRepo } from "../../lib/repo.ts";
import { ADMIN_ACTOR, asUnknownTenant } from "./tenants.ts";

/** A workspace as routes see it. */
interface WorkspaceRow {
  id: string;
  tenantId: string;
  /** Normalised identity of its repository. */
  repo: string | null;
  defaultBranch: string | null;
  /** Sequence number of the revision that readers see. */
  currentSeq: number | null;
  currentSnapshotId: string | null;
}

const COLUMNS = {
  id: workspaces.id,
  tenantId: workspaces.tenantId,
  repo: workspaces.repo,
  defaultBranch: workspaces.defaultBranch,
  currentSeq: workspaces.currentSeq,
  currentSnapshotId: workspaces.currentSnapshotId,
};

/** Finds a workspace of any tenant by its id (a UUID): the caller must compare `tenantId`. */
export async function findWorkspace(db: Db, id: string): Promise<WorkspaceRow | undefined> {
  const [row] = await db.select(COLUMNS).from(workspaces).where(eq(workspaces.id, id));
  return row;
}

interface WorkspaceInput {
  tenantId: string;
  /** The repository's address, in any form. */
  repo?: string;
  /** Public id of the credential that creates it; default: the administrator. */
  actor?: string;
}

/**
 * Creates a workspace. Throws `TenancyError`: `INVALID` for an address that is not a repository's, `NOT_FOUND` for an unknown
 * tenant, `CONFLICT` if the tenant already has a workspace for the repository.
 */
export async function createWorkspace(
  db: Db,
  input: WorkspaceInput,
): Promise<{ workspaceId: string; repo: string | null }> {
  const tenantId = checkUuid(input.tenantId, "tenant");
  const repo = input.repo === undefined ? null : normalizeRepo(input.repo);
  if (repo === undefined) {
    throw new TenancyError("INVALID", "repo: expected an address such as https://github.com/owner/name", "repo");
  }
  const workspaceId = crypto.randomUUID();
  const actor = input.actor ?? ADMIN_ACTOR;
  try {
    await db.batch([
      db.insert(workspaces).values({ id: workspaceId, tenantId, repo }),
      recordAuditStatement(db, { event: "WORKSPACE_CREATED", tenantId, actor, details: { workspaceId, repo } }),
    ]);
  } catch (error) {
    if (pgErrorCode(error) === PG_UNIQUE_VIOLATION) {
      throw new TenancyError("CONFLICT", `repo: the tenant already has a workspace for ${repo ?? ""}`, "repo");
    }
    throw asUnknownTenant(error, tenantId);
  }
  return { workspaceId, repo };
}
