/** More of `plan-cases.ts`: GitHub Apps, whose calls a fake answers. They run for real, in this order. */
import { createHmac, generateKeyPairSync } from "node:crypto";
import type { Db } from "../../../src/service/db/client.ts";
import * as apps from "../../../src/service/github/apps.ts";
import { appConnections, connectInstalled } from "../../../src/service/github/connect.ts";
import { appReadToken } from "../../../src/service/github/read-token.ts";
import { receiveAppDelivery } from "../../../src/service/github/receive.ts";
import { createLogger } from "../../../src/lib/log.ts";
import type { LargeTenant } from "../../support/large-database.ts";
import type { Case } from "./plan-cases.ts";
import { coordinators } from "./plan-cases-requests.ts";

const KEY = Buffer.alloc(32).toString("base64");
const ORIGIN = "https://github.example.com";
/** An event about a whole installation goes through the repositories that the App reads. */
const ALL_OF_AN_APP = 60_000;
const WEBHOOK_SECRET = "0123456789abcdef0123456789abcdef01234567";
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const conversion = {
  id: 37,
  name: "Code Context",
  html_url: `${ORIGIN}/github-apps/code-context`,
  owner: { login: "acme" },
  pem: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
  webhook_secret: WEBHOOK_SECRET,
};

/** GitHub: `status` is that of its answers to requests for a token. */
const githubOf =
  (status: number): typeof fetch =>
  async (input: string | URL | Request) =>
    new Request(input).url.endsWith("/conversions")
      ? Response.json(conversion, { status: 201 })
      : Response.json({ token: "ghs_x" }, { status });
const deps = (db: Db, status = 201) => ({
  db,
  encryptionKey: KEY,
  gitHosts: { allowLocal: false },
  fetch: githubOf(status),
});

async function make(db: Db, { tenantId }: LargeTenant): Promise<void> {
  const maker = { tenantId, sessionId: "s" };
  const urls = { siteUrl: ORIGIN, createdUrl: ORIGIN, installedUrl: ORIGIN };
  const { action } = await apps.planApp(KEY, maker, { origin: ORIGIN, organization: "acme", team: "t", ...urls });
  const state = new URL(action).searchParams.get("state") ?? "";
  await apps.takeApp(deps(db), { ...maker, actor: "a" }, { code: "c", state });
  // The same code again: GitHub does not know it any more.
  const again = { ...deps(db), fetch: async () => new Response(null, { status: 404 }) };
  const refused = await apps
    .takeApp(again, { ...maker, actor: "a" }, { code: "c", state })
    .catch((error: Error) => error);
  if (!(refused instanceof Error) || !refused.message.includes("made already"))
    throw new Error(`the second was not refused: ${JSON.stringify(refused)}`);
}

/** The App that `make` has made. */
async function appOf(db: Db, tenant: LargeTenant): Promise<apps.GithubApp> {
  const app = (await apps.listApps(db, tenant.tenantId)).find(({ appId }) => appId === conversion.id);
  if (!app) throw new Error("there is no App");
  return app;
}

const repository = { id: 7, name: "acme/plans", cloneUrl: `${ORIGIN}/acme/plans.git` };

async function connect(db: Db, tenant: LargeTenant): Promise<void> {
  const app = await appOf(db, tenant);
  const { tenantId } = tenant;
  const connection = { tenantId, actor: "a", app, repository };
  const made = await connectInstalled(deps(db), { ...connection, installationId: 1 });
  const again = await connectInstalled(deps(db), { ...connection, installationId: 2 });
  if (made.workspaceId !== again.workspaceId) throw new Error("the repository was connected twice");
  const found = await appConnections(db, { appId: app.id, installationId: 2, ids: [6, 7] });
  if (found.get(7) !== made.workspaceId) throw new Error("the connection was not found");
}

async function read(db: Db, tenant: LargeTenant): Promise<void> {
  const app = await appOf(db, tenant);
  const workspaceId = (await appConnections(db, { appId: app.id, installationId: 2, ids: [7] })).get(7) ?? "";
  const run = { workspaceId, url: repository.cloneUrl };
  await appReadToken(deps(db), run);
  await appReadToken(deps(db, 422), run).catch(() => undefined);
  await appReadToken(deps(db), run);
}

async function deliver(
  db: Db,
  tenant: LargeTenant,
  [event, payload, signature]: [string, object, string?],
): Promise<string> {
  const { id } = await appOf(db, tenant);
  const body = JSON.stringify(payload);
  const sent = signature ?? createHmac("sha256", WEBHOOK_SECRET).update(body).digest("hex");
  const limits = { limitHook: async () => {}, limitSender: async () => {} };
  const received = await receiveAppDelivery(
    {
      accounts: db,
      databaseOf: () => db,
      coordinators,
      encryptionKey: KEY,
      log: createLogger({}, () => {}),
      ...limits,
    },
    {
      id,
      headers: new Headers({ "X-GitHub-Event": event, "X-Hub-Signature-256": `sha256=${sent}` }),
      body: new TextEncoder().encode(body),
    },
  );
  return "outcome" in received ? received.outcome : received.status;
}

const installation = { id: 2 };
const push = { ref: "refs/heads/main", after: "1".repeat(40), repository: { id: 7, default_branch: "main" } };
const EVENTS: readonly [event: string, payload: object, outcome: string][] = [
  ["push", push, "started"],
  ["installation_repositories", { action: "removed", installation, repositories_removed: [{ id: 7 }] }, "ignored"],
  ["installation_repositories", { action: "added", installation, repositories_added: [{ id: 7 }] }, "ignored"],
  ["installation", { action: "suspend", installation }, "ignored"],
  ["installation", { action: "unsuspend", installation }, "ignored"],
];

export const GITHUB: readonly Case[] = [
  ["a new GitHub App", make],
  ["a repository of a GitHub App", connect],
  ["the token of a GitHub App", read],
  [
    "deliveries to a GitHub App",
    async (db, tenant) => {
      for (const [event, payload, wanted] of EVENTS) {
        const outcome = await deliver(db, tenant, [event, payload]);
        if (outcome !== wanted) throw new Error(`a delivery of ${event} was ${outcome}, not ${wanted}`);
      }
      const forged = await deliver(db, tenant, ["push", push, "0".repeat(64)]);
      if (forged !== "forged") throw new Error(`a forged delivery was ${forged}`);
    },
    ALL_OF_AN_APP,
  ],
  [
    "the end of a GitHub App",
    async (db, tenant) =>
      apps.removeApp(db, { tenantId: tenant.tenantId, id: (await appOf(db, tenant)).id, actor: "a" }),
    ALL_OF_AN_APP,
  ],
];
