/** Connects repositories that a GitHub App reads: with their workspace, their source, and the hook under which pushes are recorded. */
import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { checkRepositoryUrl, type GitHostPolicy } from "../../engines/git/wire/url.ts";
import { recordAuditStatement } from "../audit/record.ts";
import { arrayOf } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { repositorySources } from "../db/people-schema.ts";
import { workspaces } from "../db/schema.ts";
import { insertAppHook, newAppHook } from "../hooks/manage.ts";
import { normalizeRepo } from "../../lib/repo.ts";
import { originOf } from "../sources/read-token.ts";
import { TenancyError } from "../tenancy/errors.ts";
import type { GithubApp } from "./apps.ts";
import type { InstalledRepository } from "./installations.ts";

interface Connection {
  tenantId: string;
  actor: string;
  app: Pick<GithubApp, "id" | "name" | "origin">;
  installationId: number;
  repository: Pick<InstalledRepository, "id" | "name" | "cloneUrl">;
}

/**
 * Connects a repository through an App. One that is connected in another way, or through an installation that is gone, keeps its index and is
 * read by the App from now on. Throws `TenancyError` if this App reads it already, and `GitError` for an address that is not allowed.
 */
export async function connectInstalled(
  deps: { db: Db; encryptionKey: string; gitHosts: GitHostPolicy },
  connection: Connection,
): Promise<{ workspaceId: string; repo: string }> {
  const { db } = deps;
  const { tenantId, actor, app, installationId, repository } = connection;
  const { cloneUrl } = repository;
  checkRepositoryUrl(cloneUrl, deps.gitHosts);
  const repo = normalizeRepo(cloneUrl);
  if (repo === undefined || originOf(cloneUrl) !== app.origin)
    throw new TenancyError("INVALID", "GitHub names a clone address that is not at the App's host", "ids");
  const known = await findKnown(db, tenantId, { repo, appId: app.id, repositoryId: repository.id });
  if (known?.appId === app.id && known.installationId === installationId && known.accessLost === null)
    throw new TenancyError("CONFLICT", "it is connected already", "ids");
  const workspaceId = known?.workspaceId ?? crypto.randomUUID();
  const binding = { appId: app.id, installationId, repositoryId: repository.id, accessLost: null };
  const source = { cloneUrl, sealedToken: null, tokenUsername: null, ...binding };
  const change = {
    event: "SOURCE_CHANGED",
    tenantId,
    actor,
    details: { changeId: crypto.randomUUID(), workspaceId, from: null, to: cloneUrl, hasToken: false, app: app.name },
  } as const;
  const set = db
    .insert(repositorySources)
    .values({ workspaceId, branches: [], ...source })
    .onConflictDoUpdate({ target: repositorySources.workspaceId, set: { ...source, updatedAt: sql`now()` } });
  const hook = insertAppHook(db, await newAppHook(deps.encryptionKey, { tenantId, workspaceId, appId: app.id }));
  const changed = recordAuditStatement(db, change);
  if (known) {
    await db.batch([set, hook, changed]);
    return { workspaceId, repo };
  }
  const created = { event: "WORKSPACE_CREATED", tenantId, actor, details: { workspaceId, repo } } as const;
  try {
    await db.batch([
      db.insert(workspaces).values({ id: workspaceId, tenantId, repo }),
      set,
      hook,
      recordAuditStatement(db, created),
      changed,
    ]);
  } catch (error) {
    if (pgErrorCode(error) !== PG_UNIQUE_VIOLATION) throw error;
    throw new TenancyError("CONFLICT", "it is connected already", "ids");
  }
  return { workspaceId, repo };
}

interface Known {
  workspaceId: string;
  appId: string | null;
  installationId: number | null;
  accessLost: string | null;
}

/** The team's workspace of a repository: by its name, or by GitHub's id if it was renamed there since the App was given it. */
async function findKnown(
  db: Db,
  tenantId: string,
  { repo, appId, repositoryId }: { repo: string; appId: string; repositoryId: number },
): Promise<Known | undefined> {
  const find = (which: SQL) =>
    db
      .select({
        workspaceId: workspaces.id,
        appId: repositorySources.appId,
        installationId: repositorySources.installationId,
        accessLost: repositorySources.accessLost,
      })
      .from(workspaces)
      .leftJoin(repositorySources, eq(repositorySources.workspaceId, workspaces.id))
      .where(and(eq(workspaces.tenantId, tenantId), which))
      .limit(1);
  const isBound = sql`${workspaces.id} in (select s.workspace_id from repository_sources s where s.app_id = ${appId} and s.repository_id = ${repositoryId})`;
  const [byId] = await find(isBound);
  if (byId) return byId;
  const [byName] = await find(eq(workspaces.repo, repo));
  return byName;
}

/** Workspaces that an installation reads, by GitHub's ids of their repositories, as far as they are among `ids`. */
export async function appConnections(
  db: Db,
  { appId, installationId, ids }: { appId: string; installationId: number; ids: readonly number[] },
): Promise<Map<number, string>> {
  const { repositoryId, workspaceId, accessLost } = repositorySources;
  const rows = await db
    .select({ repositoryId, workspaceId })
    .from(repositorySources)
    .where(
      and(
        eq(repositorySources.appId, appId),
        sql`${repositoryId} = any(${arrayOf(ids, "bigint")})`,
        eq(repositorySources.installationId, installationId),
        isNull(accessLost),
      ),
    );
  return new Map(
    rows.flatMap((row) => (row.repositoryId === null ? [] : [[row.repositoryId, row.workspaceId] as const])),
  );
}
