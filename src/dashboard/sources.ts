/** Sources of workspaces: clone address, sealed read token, and the branches that are indexed on push. */
import { and, eq, sql } from "drizzle-orm";
import { recordAudit, recordAuditStatement } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { repositorySources } from "../db/people-schema.ts";
import { workspaces } from "../db/schema.ts";
import { checkRepositoryUrl, type GitHostPolicy } from "../git/wire/url.ts";
import { seal, unseal } from "../indexing/seal.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { normalizeRepo } from "../tenancy/repo.ts";

const MAX_BRANCHES = 50;
const MAX_GLOB_CHARACTERS = 200;
const MAX_TOKEN_CHARACTERS = 4_096;

export interface SourceInput {
  cloneUrl: string;
  /** Unchanged if absent; "" removes it. */
  token?: string;
  tokenUsername?: string;
  /** Globs of branches to index on push, besides the default branch. */
  branches: string[];
}

interface Deps {
  db: Db;
  encryptionKey: string;
  /** Which hosts are allowed, and whether `http://127.0.0.1:*` is. */
  gitHosts: GitHostPolicy;
}

/** Binds a sealed token to its workspace. */
export const readTokenPurpose = (workspaceId: string) => `read-token:${workspaceId}`;

/**
 * Connects a repository: creates its workspace and source in one transaction. Throws `TenancyError` or `GitError` for invalid input
 * and for a repository that is already connected.
 */
export async function connectRepository(
  deps: Deps,
  { tenantId, actor, ...input }: SourceInput & { tenantId: string; actor: string },
): Promise<{ workspaceId: string; repo: string }> {
  const { db } = deps;
  const source = checkSource(input, deps.gitHosts);
  const repo = normalizeRepo(source.cloneUrl);
  if (repo === undefined) {
    throw new TenancyError("INVALID", "url: expected an address such as https://github.com/owner/name", "url");
  }
  const workspaceId = crypto.randomUUID();
  const sealedToken = input.token ? await seal(deps.encryptionKey, readTokenPurpose(workspaceId), input.token) : null;
  try {
    await db.batch([
      db.insert(workspaces).values({ id: workspaceId, tenantId, repo }),
      db.insert(repositorySources).values({ workspaceId, ...source, sealedToken }),
      recordAuditStatement(db, { event: "WORKSPACE_CREATED", tenantId, actor, details: { workspaceId, repo } }),
    ]);
  } catch (error) {
    if (pgErrorCode(error) !== PG_UNIQUE_VIOLATION) throw error;
    throw new TenancyError("CONFLICT", `url: ${repo} is connected already`, "url");
  }
  return { workspaceId, repo };
}

/** Changes the source of a tenant's workspace. Throws like {@link connectRepository}. */
export async function changeSource(
  deps: Deps,
  { tenantId, workspaceId, actor, ...input }: SourceInput & { tenantId: string; workspaceId: string; actor: string },
): Promise<void> {
  const { db } = deps;
  const source = checkSource(input, deps.gitHosts);
  const token =
    input.token === undefined
      ? {}
      : {
          sealedToken:
            input.token === "" ? null : await seal(deps.encryptionKey, readTokenPurpose(workspaceId), input.token),
        };
  const [changed] = await db
    .insert(repositorySources)
    .values({ workspaceId, ...source, ...token })
    .onConflictDoUpdate({ target: repositorySources.workspaceId, set: { ...source, ...token, updatedAt: sql`now()` } })
    .returning({ hasToken: sql<boolean>`sealed_token is not null` });
  await recordAudit(db, {
    event: "SOURCE_CHANGED",
    tenantId,
    actor,
    details: { changeId: crypto.randomUUID(), workspaceId, hasToken: changed?.hasToken ?? false },
  });
}

export interface OpenSource {
  url: string;
  token?: string;
  username?: string;
  branches: string[];
}

/** Loads a workspace's source with its unsealed token, for starting a run; undefined if it has none. */
export async function openSource(
  deps: Pick<Deps, "db" | "encryptionKey">,
  workspaceId: string,
): Promise<OpenSource | undefined> {
  const [row] = await deps.db.select().from(repositorySources).where(eq(repositorySources.workspaceId, workspaceId));
  if (!row) return undefined;
  const { cloneUrl: url, sealedToken, tokenUsername, branches } = row;
  return {
    url,
    branches,
    ...(sealedToken === null
      ? {}
      : { token: await unseal(deps.encryptionKey, readTokenPurpose(workspaceId), sealedToken) }),
    ...(sealedToken === null || tokenUsername === null ? {} : { username: tokenUsername }),
  };
}

/** Disconnects a repository: deletes its index, snapshots, hooks and read token. Throws `TenancyError` if there is none. */
export async function disconnectRepository(
  db: Db,
  { tenantId, workspaceId, actor }: { tenantId: string; workspaceId: string; actor: string },
): Promise<void> {
  const [, gone] = await db.batch([
    // In the order in which a finishing run locks them.
    db.execute(
      sql`select 1 from runs where workspace_id = ${workspaceId} and tenant_id = ${tenantId} order by id for update`,
    ),
    db
      .delete(workspaces)
      .where(and(eq(workspaces.tenantId, tenantId), eq(workspaces.id, workspaceId)))
      .returning({ repo: workspaces.repo }),
  ]);
  const [row] = gone;
  if (!row) throw new TenancyError("NOT_FOUND", "there is no such repository");
  await recordAudit(db, { event: "WORKSPACE_DELETED", tenantId, actor, details: { workspaceId, repo: row.repo } });
}

function checkSource({ cloneUrl, token, tokenUsername, branches }: SourceInput, gitHosts: GitHostPolicy) {
  const url = cloneUrl.trim();
  checkRepositoryUrl(url, gitHosts);
  if (token !== undefined && token.length > MAX_TOKEN_CHARACTERS) {
    throw new TenancyError("INVALID", `token: expected at most ${MAX_TOKEN_CHARACTERS} characters`, "token");
  }
  if (branches.length > MAX_BRANCHES || branches.some((glob) => glob.length > MAX_GLOB_CHARACTERS)) {
    throw new TenancyError(
      "INVALID",
      `branches: expected at most ${MAX_BRANCHES} patterns of at most ${MAX_GLOB_CHARACTERS} characters`,
      "branches",
    );
  }
  return { cloneUrl: url, tokenUsername: tokenUsername?.trim().slice(0, 200) || null, branches };
}
