/**
 * GitHub Apps of teams: made with a manifest, listed, removed. Every team has Apps of its own, and they are private, so that only the account
 * that owns an App can install it: each of its installations belongs to the team, and there is no id of another's installation to claim.
 */
import { and, asc, eq, sql } from "drizzle-orm";
import * as z from "zod";
import { auditInsert, recordAuditStatement } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { githubApps } from "../db/github-schema.ts";
import { repositorySources } from "../db/people-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { newHookId } from "../hooks/ids.ts";
import { seal, unseal } from "../../lib/seal.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { callGithub, GithubError, type GithubDeps } from "./client.ts";
import { readPrivateKey } from "./jwt.ts";
import { type AppSecrets, appSecretPurpose } from "./secrets.ts";

/** An App belongs to one account at GitHub, so a team with several accounts needs several. */
export const MAX_APPS = 10;
const MAX_NAME = 34;
/** State of a manifest is accepted for as long as GitHub's code is. */
const STATE_MS = 3_600_000;

export type GithubApp = Pick<
  typeof githubApps.$inferSelect,
  "id" | "origin" | "appId" | "name" | "owner" | "pageUrl" | "sealedSecret" | "rejectedAt"
>;

/** Who makes an App, and in which session: its state is accepted from no other. */
interface Maker {
  tenantId: string;
  sessionId: string;
}

interface ManifestPlan {
  /** Where the form with the manifest is sent. */
  action: string;
  /** Value of the form's field `manifest`. */
  manifest: Record<string, unknown>;
}

const statePurpose = ({ tenantId, sessionId }: Maker): string => `github-app-state:${tenantId}:${sessionId}`;

/** Plans a new App: the form that a person sends to GitHub, which comes back to `createdUrl` with a code and the state. */
export async function planApp(
  encryptionKey: string,
  maker: Maker,
  plan: {
    origin: string;
    /** Login of the organization that is to own the App; empty: the person's own account. */
    organization: string;
    /** Name of the team, for the name of the App. */
    team: string;
    siteUrl: string;
    /** Pages of the dashboard: where GitHub comes back to after making the App, and after an installation. */
    createdUrl: string;
    installedUrl: string;
  },
): Promise<ManifestPlan> {
  const { origin, organization, team, siteUrl, createdUrl, installedUrl } = plan;
  if (organization !== "" && !/^[a-z\d](?:[a-z\d-]{0,98}[a-z\d])?$/i.test(organization))
    throw new TenancyError(
      "INVALID",
      "organization: expected the organization's name as in its address",
      "organization",
    );
  const id = newHookId(encryptionKey);
  const state = await seal(encryptionKey, statePurpose(maker), JSON.stringify({ id, origin, at: Date.now() }));
  const owner = organization === "" ? "" : `/organizations/${organization}`;
  return {
    action: `${origin}${owner}/settings/apps/new?state=${encodeURIComponent(state)}`,
    manifest: {
      // Names are unique at GitHub; the person can change this one there.
      name: `Code Context ${team}`.slice(0, MAX_NAME - 5).trim() + `-${id.replace(/[^a-z\d]/gi, "").slice(0, 4)}`,
      url: siteUrl,
      description: "Indexes repositories for the search of people and their coding agents.",
      hook_attributes: { url: `${siteUrl}/api/v1/hooks/github-app/${id}`, active: true },
      redirect_url: createdUrl,
      setup_url: installedUrl,
      setup_on_update: true,
      public: false,
      default_permissions: { contents: "read", metadata: "read" },
      default_events: ["push"],
    },
  };
}

const State = z.object({ id: z.string(), origin: z.string(), at: z.number() });

/** The answer to a conversion, as far as it is used. The client secret is not kept, since nothing needs it. */
const Conversion = z.object({
  id: z.int().positive(),
  name: z.string().min(1).max(200),
  html_url: z.url().max(1_000),
  // An enterprise has no login.
  owner: z.object({ login: z.string().max(200).optional(), slug: z.string().max(200).optional() }),
  pem: z.string().max(20_000),
  webhook_secret: z.string().min(16).max(200),
});

/**
 * Takes over an App that GitHub has made, with the code with which it came back. Recorded once. Throws `TenancyError` for a state that is not
 * of this person's session, a code that GitHub does not accept, and too many Apps.
 */
export async function takeApp(
  deps: GithubDeps & { db: Db; encryptionKey: string },
  maker: Maker & { actor: string },
  { code, state }: { code: string; state: string },
): Promise<{ id: string; name: string }> {
  const opened = await unseal(deps.encryptionKey, statePurpose(maker), state).catch(() => "null");
  const { data: planned } = State.safeParse(JSON.parse(opened));
  if (!planned || Date.now() - planned.at > STATE_MS)
    throw new TenancyError("INVALID", "this App was not begun here, or too long ago: begin again");
  if (!/^[\w-]{1,200}$/.test(code)) throw new TenancyError("INVALID", "GitHub sent no code: begin again");
  const { id, origin } = planned;
  const { tenantId, actor } = maker;
  const answer = await callGithub(deps, { origin, method: "POST", path: `/app-manifests/${code}/conversions` }).catch(
    async (error: unknown): Promise<never> => {
      if (!(error instanceof GithubError)) throw error;
      const known = await findApp(deps.db, tenantId, id);
      if (known) throw new TenancyError("CONFLICT", `the App ${known.name} is made already`);
      const why = error.status === 404 ? "GitHub does not accept the code any more: begin again" : error.message;
      throw new TenancyError("INVALID", why);
    },
  );
  const { data: made } = Conversion.safeParse(answer);
  const privateKey = made && readPrivateKey(made.pem);
  if (!made || privateKey === undefined || new URL(made.html_url).origin !== origin)
    throw new TenancyError(
      "INVALID",
      "GitHub's answer has not the form that is expected; delete the App there and begin again",
    );
  const owner = made.owner.login ?? made.owner.slug ?? "its account";
  const secrets: AppSecrets = { privateKey, webhookSecret: made.webhook_secret };
  const sealedSecret = await seal(deps.encryptionKey, appSecretPurpose(id), JSON.stringify(secrets));
  const event = {
    event: "GITHUB_APP_CREATED",
    tenantId,
    actor,
    details: { appId: id, name: made.name, owner, origin },
  } as const;
  try {
    const rows = await rowsOf(
      deps.db,
      sql`with made as (
        insert into github_apps (id, tenant_id, origin, app_id, name, owner, page_url, sealed_secret)
        select ${id}, ${tenantId}::uuid, ${origin}, ${made.id}::bigint, ${made.name}, ${owner}, ${made.html_url}, ${sealedSecret}
        where (select count(*) from github_apps where tenant_id = ${tenantId}) < ${MAX_APPS}
        returning id
      ), logged as (${auditInsert(event, sql`made`)})
      select id from made`,
    );
    if (rows.length === 0)
      throw new TenancyError(
        "CONFLICT",
        `a team can have ${MAX_APPS} GitHub Apps: remove one, and delete ${made.name} at GitHub`,
      );
  } catch (error) {
    if (pgErrorCode(error) !== PG_UNIQUE_VIOLATION) throw error;
    throw new TenancyError("CONFLICT", `the App ${made.name} is made already`);
  }
  return { id, name: made.name };
}

const COLUMNS = {
  id: githubApps.id,
  origin: githubApps.origin,
  appId: githubApps.appId,
  name: githubApps.name,
  owner: githubApps.owner,
  pageUrl: githubApps.pageUrl,
  sealedSecret: githubApps.sealedSecret,
  rejectedAt: githubApps.rejectedAt,
};

/** The Apps of a team, in the order in which they were made. */
export function listApps(db: Db, tenantId: string): Promise<GithubApp[]> {
  return db
    .select(COLUMNS)
    .from(githubApps)
    .where(eq(githubApps.tenantId, tenantId))
    .orderBy(asc(githubApps.createdAt))
    .limit(MAX_APPS);
}

/** An App of a team; undefined if it has none with this id. */
export async function findApp(db: Db, tenantId: string, id: string): Promise<GithubApp | undefined> {
  const [app] = await db
    .select(COLUMNS)
    .from(githubApps)
    .where(and(eq(githubApps.tenantId, tenantId), eq(githubApps.id, id)));
  return app;
}

/**
 * Removes an App from the team. Repositories that it reads stay connected, without access. At GitHub it stays, as only people can delete it.
 * Throws `TenancyError` if there is none.
 */
export async function removeApp(
  db: Db,
  { tenantId, id, actor }: { tenantId: string; id: string; actor: string },
): Promise<void> {
  const app = await findApp(db, tenantId, id);
  if (!app) throw new TenancyError("NOT_FOUND", "there is no such GitHub App");
  await db.batch([
    db.update(repositorySources).set({ accessLost: "app_removed" }).where(eq(repositorySources.appId, id)),
    db.delete(githubApps).where(and(eq(githubApps.tenantId, tenantId), eq(githubApps.id, id))),
    recordAuditStatement(db, { event: "GITHUB_APP_REMOVED", tenantId, actor, details: { appId: id, name: app.name } }),
  ]);
}
