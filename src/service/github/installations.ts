/** What an App can read: its installations, their repositories, and tokens that read them for an hour. */
import * as z from "zod";
import { TenancyError } from "../tenancy/errors.ts";
import type { GithubApp } from "./apps.ts";
import { callGithub, GithubError, type GithubDeps } from "./client.ts";
import { appJwt } from "./jwt.ts";
import { openApp } from "./secrets.ts";

/** Installations that are listed; a private App has one. */
const MAX_INSTALLATIONS = 100;
/** Repositories of a page of the list. */
export const PICKER_ROWS = 50;
/** A search reads so many pages of so many repositories, since GitHub searches no installation. */
const SEARCH_PAGES = 10;
const SEARCH_ROWS = 100;
/** Repositories that are connected at once. */
export const MAX_PICKED = 50;

export type AppDeps = GithubDeps & { encryptionKey: string };

const Installation = z.object({
  id: z.int().positive(),
  // An enterprise has no login.
  account: z.object({ login: z.string().max(200).optional(), slug: z.string().max(200).optional() }).nullish(),
  repository_selection: z.enum(["all", "selected"]),
  suspended_at: z.string().nullish(),
});

export interface AppInstallation {
  id: number;
  account: string;
  /** Whether it reads all repositories of the account, or those that were selected. */
  reads: "all" | "selected";
  isSuspended: boolean;
}

const Repository = z.object({
  id: z.int().positive(),
  full_name: z.string().max(300),
  clone_url: z.string().max(1_000),
  private: z.boolean(),
  archived: z.boolean().optional(),
});

/** A repository that an installation can read. */
export interface InstalledRepository {
  id: number;
  /** `owner/name` */
  name: string;
  cloneUrl: string;
  isPrivate: boolean;
  isArchived: boolean;
}

const InstallationToken = z.object({
  token: z.string().min(1).max(1_000),
  repositories: z.array(Repository).optional(),
});

/** Lists an App's installations. Throws {@link GithubError}. */
export async function listInstallations(deps: AppDeps, app: GithubApp): Promise<AppInstallation[]> {
  const path = `/app/installations?per_page=${MAX_INSTALLATIONS}`;
  const answer = await callAsApp(deps, app, { method: "GET", path });
  return read(app, z.array(Installation), answer).map(({ id, account, repository_selection, suspended_at }) => ({
    id,
    account: account?.login ?? account?.slug ?? "an account",
    reads: repository_selection,
    isSuspended: suspended_at != null,
  }));
}

export interface RepositoryPage {
  repositories: InstalledRepository[];
  /** Number of repositories that the installation can read. */
  total: number;
  /** Number of those that were looked at; all, unless a search has too many. */
  searched: number;
  hasNext: boolean;
}

/**
 * A page of the repositories that an installation can read, in GitHub's order. With `text`, those whose name has it, among the first
 * thousand. Throws {@link GithubError}.
 */
export async function listRepositories(
  deps: AppDeps,
  app: GithubApp,
  { installationId, page, text }: { installationId: number; page: number; text: string },
): Promise<RepositoryPage> {
  const token = await mint(deps, app, installationId, { permissions: { metadata: "read" } });
  const load = (rows: number, number: number) => loadPage(deps, app, token.token, { rows, number });
  if (text === "") {
    const { repositories, total } = await load(PICKER_ROWS, page);
    return { repositories, total, searched: total, hasNext: page * PICKER_ROWS < total };
  }
  const first = await load(SEARCH_ROWS, 1);
  const pages = Math.min(SEARCH_PAGES, Math.ceil(first.total / SEARCH_ROWS));
  const others = await Promise.all(Array.from({ length: Math.max(0, pages - 1) }, (_, n) => load(SEARCH_ROWS, n + 2)));
  const all = [first, ...others].flatMap(({ repositories }) => repositories);
  const found = all.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  const from = (page - 1) * PICKER_ROWS;
  return {
    repositories: found.slice(from, from + PICKER_ROWS),
    total: first.total,
    searched: Math.min(first.total, SEARCH_PAGES * SEARCH_ROWS),
    hasNext: found.length > from + PICKER_ROWS,
  };
}

async function loadPage(
  deps: AppDeps,
  app: GithubApp,
  token: string,
  { rows, number }: { rows: number; number: number },
): Promise<{ repositories: InstalledRepository[]; total: number }> {
  const path = `/installation/repositories?per_page=${rows}&page=${number}`;
  const answer = await callGithub(deps, { origin: app.origin, method: "GET", path, token });
  const Page = z.object({ total_count: z.int().nonnegative(), repositories: z.array(Repository).max(SEARCH_ROWS) });
  const { total_count: total, repositories } = read(app, Page, answer);
  return { total, repositories: repositories.map(toRepository) };
}

/**
 * The repositories with these ids, as the installation reads them. Throws `TenancyError` if it cannot read one of them, so that an id which
 * was made up connects nothing.
 */
export async function pickRepositories(
  deps: AppDeps,
  app: GithubApp,
  { installationId, ids }: { installationId: number; ids: readonly number[] },
): Promise<InstalledRepository[]> {
  const wanted = { repository_ids: ids, permissions: { metadata: "read" as const } };
  const { repositories = [] } = await mint(deps, app, installationId, wanted).catch((error: unknown): never => {
    if (!(error instanceof GithubError) || (error.status !== 422 && error.status !== 404)) throw error;
    throw new TenancyError(
      "INVALID",
      "ids: the App cannot read one of these repositories any more; load the list again",
      "ids",
    );
  });
  const byId = new Map(repositories.map((one) => [one.id, toRepository(one)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Makes a token that reads one repository for an hour. Throws {@link GithubError}. */
export async function mintReadToken(
  deps: AppDeps,
  app: Pick<GithubApp, "id" | "origin" | "appId" | "sealedSecret">,
  { installationId, repositoryId }: { installationId: number; repositoryId: number },
): Promise<string> {
  const wanted = { repository_ids: [repositoryId], permissions: { contents: "read" as const } };
  return (await mint(deps, app, installationId, wanted)).token;
}

async function mint(
  deps: AppDeps,
  app: Pick<GithubApp, "id" | "origin" | "appId" | "sealedSecret">,
  installationId: number,
  body: { repository_ids?: readonly number[]; permissions: { contents?: "read"; metadata?: "read" } },
): Promise<z.infer<typeof InstallationToken>> {
  const path = `/app/installations/${installationId}/access_tokens`;
  return read(app, InstallationToken, await callAsApp(deps, app, { method: "POST", path, body }));
}

async function callAsApp(
  deps: AppDeps,
  app: Pick<GithubApp, "id" | "origin" | "appId" | "sealedSecret">,
  call: { method: "GET" | "POST"; path: string; body?: unknown },
): Promise<unknown> {
  const { privateKey } = await openApp(deps.encryptionKey, app);
  const token = await appJwt(app.appId, privateKey, Date.now());
  return callGithub(deps, { origin: app.origin, token, ...call });
}

function toRepository(given: z.infer<typeof Repository>): InstalledRepository {
  const { id, full_name: name, clone_url: cloneUrl } = given;
  return { id, name, cloneUrl, isPrivate: given.private, isArchived: given.archived === true };
}

function read<T>({ origin }: Pick<GithubApp, "origin">, schema: z.ZodType<T>, answer: unknown): T {
  const { data } = schema.safeParse(answer);
  if (data === undefined) throw new GithubError(`${new URL(origin).host} sent an answer of another form`, 0);
  return data;
}
