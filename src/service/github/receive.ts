/**
 * Handles a delivery to the webhook of a GitHub App: verifies it, and passes a push to the workspaces that the App reads, each of which handles
 * it like a delivery to a hook of its own. Other events say which repositories the App can still read.
 */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { arrayOf } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { githubApps } from "../db/github-schema.ts";
import { type AccessLost, hooks, repositorySources } from "../db/people-schema.ts";
import { workspaces } from "../db/schema.ts";
import { insertAppHook, newAppHook } from "../hooks/manage.ts";
import { type Delivery, readDelivery } from "../hooks/payload.ts";
import {
  act,
  type HookDeps,
  ignored,
  type IncomingDelivery,
  type Outcome,
  type Received,
  type Receiver,
  REJECTED,
} from "../hooks/receive.ts";
import { RecentlyForged } from "../hooks/recently-forged.ts";
import { isGenuine } from "../hooks/signature.ts";
import { isCount, isRecord } from "../../lib/shape.ts";
import { openApp } from "./secrets.ts";

/** In the webhook's address, where hooks of repositories have their host. */
export const APP_PROVIDER = "github-app";
/** Workspaces that one repository can have: one by its name, and those under former names. */
const MAX_WORKSPACES = 5;
/** Repositories of one event that are looked at. */
const MAX_REPOSITORIES = 10_000;

interface App {
  id: string;
  tenantId: string;
  sealedSecret: string;
}

const forgedLately = new RecentlyForged<App>();

/** Handles one delivery. Throws database errors, after which a person can have GitHub redeliver it, and what the limits throw. */
export async function receiveAppDelivery(
  deps: HookDeps,
  incoming: Omit<IncomingDelivery, "provider">,
): Promise<Received> {
  const known = forgedLately.get(incoming.id);
  if (known && !(await isSigned(deps, known, incoming))) return refuseForged(deps, known);
  const { id, tenantId, sealedSecret } = githubApps;
  const [app] = await deps.accounts.select({ id, tenantId, sealedSecret }).from(githubApps).where(eq(id, incoming.id));
  if (!app) {
    await deps.limitSender();
    return { status: "unknown" };
  }
  if (!(await isSigned(deps, app, incoming))) {
    forgedLately.add(app);
    return refuseForged(deps, app);
  }
  let delivery: Delivery;
  try {
    delivery = readDelivery("github", incoming.headers, incoming.body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    await deps.limitSender();
    return { status: "malformed", message: REJECTED.malformed };
  }
  const outcome = await decide(deps, app, delivery);
  return { status: "accepted", tenantId: app.tenantId, event: delivery.event, ...outcome };
}

async function isSigned(deps: HookDeps, app: App, { headers, body }: Pick<IncomingDelivery, "headers" | "body">) {
  const { webhookSecret } = await openApp(deps.encryptionKey, app);
  return isGenuine("github", headers, body, webhookSecret);
}

async function refuseForged(deps: HookDeps, app: App): Promise<Received> {
  await deps.limitSender();
  const isDue = sql`(${githubApps.rejectedAt} is null or ${githubApps.rejectedAt} < now() - interval '1 minute')`;
  await deps.accounts
    .update(githubApps)
    .set({ rejectedAt: sql`now()` })
    .where(and(eq(githubApps.id, app.id), isDue));
  return { status: "forged" };
}

async function decide(deps: HookDeps, app: App, delivery: Delivery): Promise<Outcome> {
  const { event, payload } = delivery;
  const db = deps.databaseOf(app.tenantId);
  if (event === "push") {
    const receivers = await receiversOf(deps, db, app, idOf(payload["repository"]));
    const outcomes: Outcome[] = [];
    for (const receiver of receivers) outcomes.push(await act({ ...deps, db }, receiver, delivery));
    const [first] = outcomes.toSorted((a, b) => Number(a.runId === null) - Number(b.runId === null));
    if (first) return first;
  }
  await deps.limitHook(app.id);
  if (event === "push") return ignored("the repository is not connected");
  const installationId = idOf(payload["installation"]);
  if (installationId === undefined) return ignored("not about an installation");
  const change = changeOf(event, payload, installationId);
  if (!change) return ignored("not about what the App can read");
  const { which, ...values } = change;
  await db
    .update(repositorySources)
    .set(values)
    .where(and(eq(repositorySources.appId, app.id), which));
  return ignored("what the App can read is noted");
}

/** The workspaces of a repository that the App reads, with the hooks under which its deliveries are recorded. */
async function receiversOf(deps: HookDeps, db: Db, app: App, repositoryId: number | undefined): Promise<Receiver[]> {
  if (repositoryId === undefined) return [];
  const { tenantId } = app;
  const find = () =>
    db
      .select({ id: hooks.id, workspaceId: workspaces.id, defaultBranch: workspaces.defaultBranch })
      .from(repositorySources)
      .innerJoin(workspaces, eq(workspaces.id, repositorySources.workspaceId))
      .leftJoin(hooks, and(eq(hooks.workspaceId, workspaces.id), eq(hooks.provider, "github")))
      .where(and(eq(repositorySources.appId, app.id), eq(repositorySources.repositoryId, repositoryId)))
      .limit(MAX_WORKSPACES);
  let found = await find();
  // A person may have deleted the hook.
  const bare = found.filter(({ id }) => id === null);
  for (const { workspaceId } of bare)
    await insertAppHook(db, await newAppHook(deps.encryptionKey, { tenantId, workspaceId, appId: app.id }));
  if (bare.length > 0) found = await find();
  return found.flatMap(({ id, workspaceId, defaultBranch }) =>
    id === null ? [] : { id, tenantId, workspaceId, defaultBranch },
  );
}

interface Change {
  installationId?: number;
  accessLost: AccessLost | null;
  /** Sources of the App that the event is about. */
  which: SQL | undefined;
}

/** What an event changes about the sources of an App; undefined if nothing. */
function changeOf(event: string, payload: Record<string, unknown>, installationId: number): Change | undefined {
  const ofInstallation = eq(repositorySources.installationId, installationId);
  const ofRepositories = (list: unknown) =>
    sql`${repositorySources.repositoryId} = any(${arrayOf(idsOf(list), "bigint")})`;
  switch (`${event}.${String(payload["action"])}`) {
    case "installation.deleted":
      return { accessLost: "uninstalled", which: ofInstallation };
    case "installation.suspend":
      return { accessLost: "suspended", which: ofInstallation };
    case "installation.unsuspend":
      return { accessLost: null, which: and(ofInstallation, eq(repositorySources.accessLost, "suspended")) };
    case "installation.created":
      // Another installation of the same App reads the same repositories.
      return { installationId, accessLost: null, which: ofRepositories(payload["repositories"]) };
    case "installation_repositories.added":
      return { installationId, accessLost: null, which: ofRepositories(payload["repositories_added"]) };
    case "installation_repositories.removed":
      return {
        accessLost: "repository_removed",
        which: and(ofInstallation, ofRepositories(payload["repositories_removed"])),
      };
    default:
      return undefined;
  }
}

function idsOf(list: unknown): number[] {
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_REPOSITORIES).flatMap((one: unknown) => idOf(one) ?? []);
}

function idOf(value: unknown): number | undefined {
  return isRecord(value) && isCount(value["id"]) ? value["id"] : undefined;
}
