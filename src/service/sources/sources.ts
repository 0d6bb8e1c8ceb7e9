/** Sources of workspaces: clone address, sealed read token, and the branches that are indexed on push. */
import { and, eq, sql } from "drizzle-orm";
import { auditInsert, recordAudit, recordAuditStatement } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { repositorySources } from "../db/people-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { workspaces } from "../db/schema.ts";
import { checkRepositoryUrl, type GitHostPolicy } from "../../engines/git/wire/url.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { normalizeRepo } from "../../lib/repo.ts";
import { isOldSeal, originOf, sealReadToken, type TokenPlace, unsealReadToken } from "./read-token.ts";

const MAX_BRANCHES = 50;
const MAX_GLOB_CHARACTERS = 200;
const MAX_TOKEN_CHARACTERS = 4_096;

interface SourceInput {
  cloneUrl: string;
  /** If absent, a stored one stays, as long as the origin of the clone URL does; "" removes it. */
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
  const place = { workspaceId, cloneUrl: source.cloneUrl };
  const sealedToken = input.token ? await sealReadToken(deps.encryptionKey, place, input.token) : null;
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

interface SourceChange {
  /** Whether the stored read token was removed, because the new address has another origin and no new token came with it. */
  tokenRemoved: boolean;
}

/**
 * Changes the source of a tenant's workspace. A stored token stays only while the clone URL's origin stays. Throws like
 * {@link connectRepository}, and `TenancyError` if somebody else changes the source at the same time.
 */
export async function changeSource(
  deps: Deps,
  { tenantId, workspaceId, actor, ...input }: SourceInput & { tenantId: string; workspaceId: string; actor: string },
): Promise<SourceChange> {
  const { db } = deps;
  const source = checkSource(input, deps.gitHosts);
  const own = eq(repositorySources.workspaceId, workspaceId);
  const [before] = await db.select().from(repositorySources).where(own);
  const kept =
    before?.sealedToken != null && originOf(before.cloneUrl) === originOf(source.cloneUrl) ? before.sealedToken : null;
  const given = input.token
    ? await sealReadToken(deps.encryptionKey, { workspaceId, cloneUrl: source.cloneUrl }, input.token)
    : null;
  const sealedToken = input.token === undefined ? kept : given;
  const tokenRemoved = before?.sealedToken != null && sealedToken === null && input.token === undefined;
  const event = {
    event: "SOURCE_CHANGED",
    tenantId,
    actor,
    details: {
      changeId: crypto.randomUUID(),
      workspaceId,
      from: before ? withoutCredentials(before.cloneUrl) : null,
      to: withoutCredentials(source.cloneUrl),
      hasToken: sealedToken !== null,
      tokenRemoved,
    },
  } as const;
  // What was kept was decided for the row as it was read.
  const unchanged = before
    ? sql`repository_sources.clone_url = ${before.cloneUrl} and repository_sources.sealed_token is not distinct from ${before.sealedToken}`
    : sql`false`;
  const { cloneUrl, tokenUsername, branches } = source;
  // A GitHub App reads the address that it was chosen for; a token or another address takes its place.
  const keepsApp = before?.appId != null && before.cloneUrl === cloneUrl && given === null;
  const dropped = keepsApp
    ? sql``
    : sql`, app_id = null, installation_id = null, repository_id = null, access_lost = null`;
  const changed = await rowsOf(
    db,
    sql`with changed as (
      insert into repository_sources (workspace_id, clone_url, sealed_token, token_username, branches)
      values (${workspaceId}, ${cloneUrl}, ${sealedToken}, ${tokenUsername}, ${JSON.stringify(branches)}::jsonb)
      on conflict (workspace_id) do update set clone_url = excluded.clone_url, sealed_token = excluded.sealed_token,
        token_username = excluded.token_username, branches = excluded.branches, updated_at = now()${dropped}
      where ${unchanged}
      returning workspace_id
    ), logged as (${auditInsert(event, sql`changed`)})
    select workspace_id from changed`,
  );
  if (changed.length === 0) {
    throw new TenancyError("CONFLICT", "the source was changed by somebody else at the same time: look at it again");
  }
  return { tokenRemoved };
}

export interface OpenSource {
  url: string;
  token?: string;
  username?: string;
  /** GitHub App that reads it, with a token that is made when the run reads. */
  appId?: string;
  branches: string[];
}

/**
 * Loads a workspace's source with its unsealed token, for starting a run; undefined if it has none. Throws `TenancyError` if the token was
 * given for another address.
 */
export async function openSource(
  deps: Pick<Deps, "db" | "encryptionKey">,
  workspaceId: string,
): Promise<OpenSource | undefined> {
  const [row] = await deps.db.select().from(repositorySources).where(eq(repositorySources.workspaceId, workspaceId));
  if (!row) return undefined;
  const { cloneUrl: url, sealedToken, tokenUsername, branches, appId } = row;
  if (appId !== null) return { url, branches, appId };
  if (sealedToken === null) return { url, branches };
  const token = await openToken(deps, { workspaceId, cloneUrl: url }, sealedToken);
  return { url, branches, token, ...(tokenUsername === null ? {} : { username: tokenUsername }) };
}

async function openToken(
  { db, encryptionKey }: Pick<Deps, "db" | "encryptionKey">,
  place: TokenPlace,
  sealed: string,
): Promise<string> {
  const token = await unsealReadToken(encryptionKey, place, sealed).catch(() => {
    throw new TenancyError("CONFLICT", "the read token was not given for this address: enter it again", "token");
  });
  if (isOldSeal(sealed)) {
    const sealedToken = await sealReadToken(encryptionKey, place, token);
    const { workspaceId, cloneUrl } = place;
    const asRead = and(
      eq(repositorySources.workspaceId, workspaceId),
      eq(repositorySources.cloneUrl, cloneUrl),
      eq(repositorySources.sealedToken, sealed),
    );
    await db.update(repositorySources).set({ sealedToken }).where(asRead);
  }
  return token;
}

/** A clone URL as it is shown and recorded: without user name, password and query. */
function withoutCredentials(cloneUrl: string): string {
  const { origin, pathname } = new URL(cloneUrl);
  return origin + pathname;
}

/** Disconnects a repository: deletes its index, snapshots, hooks and read token. Throws `TenancyError` if there is none. */
export async function disconnectRepository(
  db: Db,
  { tenantId, workspaceId, actor }: { tenantId: string; workspaceId: string; actor: string },
): Promise<void> {
  const [, gone] = await db.batch([
    // In the order in which a finishing run locks them.
    db.execute(
      sql`select 1 from runs where workspace_id = ${workspaceId} and tenant_id = ${tenantId} and state in ('queued', 'running') order by id for update`,
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
