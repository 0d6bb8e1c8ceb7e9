/** GitHub Apps of a team: made at GitHub with a manifest, listed with their installations, removed. */
import { Hono } from "hono";
import {
  findApp,
  type GithubApp,
  listApps,
  MAX_APPS,
  planApp,
  removeApp,
  takeApp,
} from "../../../service/github/apps.ts";
import { GithubError, githubOrigin } from "../../../service/github/client.ts";
import { type AppInstallation, listInstallations } from "../../../service/github/installations.ts";
import { done, setNotice } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, sessionOf, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { actorOfSession } from "../app/fields.ts";
import { requireManager } from "../app/guards.ts";
import { siteUrlOf } from "../app/settings.ts";
import { tenantPage } from "../views/layout.tsx";
import { Confirm, Empty, Field, Head, Panel, Time } from "../views/parts.tsx";
import { depsOf } from "./repositories.tsx";

export const githubPages = new Hono<DashboardHono>();
export const githubApi = new Hono<DashboardHono>();

/** Page with the form that is sent to GitHub, so that its content policy cannot name the service alone. */
export const MANIFEST_PAGE = /^\/app\/[^/]+\/github\/new$/;

/** Dependencies of the functions that call GitHub. */
export function githubDeps(c: DashboardContext) {
  return { ...depsOf(c), fetch: ((...given) => fetch(...given)) as typeof fetch };
}

/** Loads the path's App. Throws 404 unless the team has it. */
export async function requireApp(c: DashboardContext): Promise<GithubApp> {
  const app = await findApp(c.get("db"), c.get("membership").tenantId, c.req.param("app") ?? "");
  if (!app) throw new DashboardError("NOT_FOUND", "there is no such GitHub App");
  return app;
}

githubPages.get("/github", async (c) => {
  requireManager(c);
  const apps = await listApps(c.get("db"), c.get("membership").tenantId);
  const installations = await Promise.all(apps.map((app) => tryInstallations(c, app)));
  return tenantPage(
    c,
    "repositories",
    { title: "GitHub App" },
    <>
      <Head
        title="GitHub App"
        crumb={<a href={tenantPath(c, "repositories")}>Repositories</a>}
        text="Choose repositories of a GitHub account from a list. Pushes are indexed and private code is read without a hook or a token to set up."
      />
      {apps.map((app, n) => (
        <AppPanel c={c} app={app} installations={installations[n] ?? ""} />
      ))}
      {apps.length < MAX_APPS && <NewAppPanel c={c} isFirst={apps.length === 0} />}
    </>,
  );
});

/** The installations of an App, or why they cannot be listed. */
async function tryInstallations(c: DashboardContext, app: GithubApp): Promise<AppInstallation[] | string> {
  try {
    return await listInstallations(githubDeps(c), app);
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    if (error.status === 401 || error.status === 404)
      return "GitHub does not know this App any more: it was deleted there, or its private key was. Remove it here, and make another.";
    return `${error.message}.`;
  }
}

interface AppProps {
  c: DashboardContext;
  app: GithubApp;
  installations: AppInstallation[] | string;
}

function AppPanel({ c, app, installations }: AppProps) {
  const install = `${app.pageUrl}/installations/new`;
  return (
    <Panel
      title={app.name}
      text={
        <>
          Of <strong>{app.owner}</strong> at {new URL(app.origin).host}.{" "}
          <a href={app.pageUrl} rel="noreferrer">
            Its page at GitHub
          </a>
          {app.rejectedAt && (
            <>
              . A delivery with a wrong signature came <Time at={app.rejectedAt} />
            </>
          )}
        </>
      }
      aside={
        <Confirm
          label="Remove …"
          subject={app.name}
          title={`Remove ${app.name}?`}
          question="Its repositories stay connected and searchable, but can no longer be read. At GitHub the App stays until you delete it there, in the settings of its account."
          action={`/app/api/tenants/${c.get("membership").slug}/github/${app.id}/remove`}
          button="Remove the App"
        />
      }
    >
      {typeof installations === "string" ? (
        <div class="body">
          <p class="form-error">{installations}</p>
        </div>
      ) : installations.length === 0 ? (
        <Empty title="Not installed yet">
          <p>Install it on {app.owner}, for all repositories or for those that you select.</p>
          <a class="button primary" href={install} rel="noreferrer">
            Install at GitHub
          </a>
        </Empty>
      ) : (
        <div class="body">
          {installations.map((one) => (
            <div class="row installation">
              <div>
                <strong>{one.account}</strong>{" "}
                {one.isSuspended ? <span class="tag bad">suspended</span> : <span class="tag ok">installed</span>}
                <div class="small soft">
                  {one.reads === "all" ? "It can read all repositories." : "It can read selected repositories."}
                </div>
              </div>
              <div class="row">
                <a class="button" href={install} rel="noreferrer">
                  Change at GitHub<span class="sr"> what it can read of {one.account}</span>
                </a>
                {!one.isSuspended && (
                  <a class="button primary" href={tenantPath(c, `github/${app.id}/${one.id}`)}>
                    Choose repositories<span class="sr"> of {one.account}</span>
                  </a>
                )}
              </div>
            </div>
          ))}
        </div>
      )}
    </Panel>
  );
}

function NewAppPanel({ c, isFirst }: { c: DashboardContext; isFirst: boolean }) {
  return (
    <Panel
      title={isFirst ? "Make an App" : "Another App"}
      text="An App belongs to one account at GitHub, and reads that account's repositories only."
    >
      <div class="body">
        <form method="get" action={tenantPath(c, "github/new")}>
          <Field
            label="Organization (empty: your own account)"
            name="organization"
            maxlength={100}
            autocomplete="off"
            placeholder="acme"
            hint="As in its address: github.com/acme. You must be an owner of it."
          />
          <Field
            label="GitHub Enterprise Server (empty: github.com)"
            name="host"
            maxlength={300}
            autocomplete="off"
            placeholder="github.example.com"
          />
          <button type="submit" class={isFirst ? "primary" : ""}>
            Continue
          </button>
        </form>
      </div>
    </Panel>
  );
}

githubPages.get("/github/new", async (c) => {
  requireManager(c);
  const { tenantId, name } = c.get("membership");
  const siteUrl = siteUrlOf(c.env, c.req.raw);
  const origin = githubOrigin(c.req.query("host") ?? "", depsOf(c).gitHosts);
  const organization = (c.req.query("organization") ?? "").trim();
  const { action, manifest } = await planApp(
    c.env.ENCRYPTION_KEY,
    { tenantId, sessionId: sessionOf(c).id },
    {
      origin,
      organization,
      team: name,
      siteUrl,
      createdUrl: siteUrl + tenantPath(c, "github/created"),
      installedUrl: siteUrl + tenantPath(c, "github"),
    },
  );
  const { host } = new URL(origin);
  return tenantPage(
    c,
    "repositories",
    { title: "Make a GitHub App" },
    <>
      <Head title="Make a GitHub App" crumb={<a href={tenantPath(c, "github")}>GitHub App</a>} />
      <Panel title={`At ${host}`} text="GitHub shows its name, which you can change, and makes it when you confirm.">
        <div class="body">
          {!siteUrl.startsWith("https:") && (
            <p class="notice warn">
              GitHub must be able to reach {siteUrl}. Set SITE_URL to a public one first, or GitHub will refuse it.
            </p>
          )}
          <dl class="facts">
            <dt>Owner</dt>
            <dd>{organization === "" ? "your own account" : organization}</dd>
            <dt>May</dt>
            <dd>read code and metadata of the repositories that you select; write nothing</dd>
            <dt>Reports</dt>
            <dd>
              pushes, to <code>{siteUrl}</code>
            </dd>
          </dl>
          <form method="post" action={action} class="after-facts">
            <input type="hidden" name="manifest" value={JSON.stringify(manifest)} />
            <button type="submit" class="primary">
              Continue at {host}
            </button>
          </form>
        </div>
      </Panel>
    </>,
  );
});

/** Where GitHub comes back to with the code of a new App. */
githubPages.get("/github/created", async (c) => {
  requireManager(c);
  const { tenantId } = c.get("membership");
  const maker = { tenantId, sessionId: sessionOf(c).id, actor: actorOfSession(c) };
  const given = { code: c.req.query("code") ?? "", state: c.req.query("state") ?? "" };
  const { name } = await takeApp(githubDeps(c), maker, given);
  setNotice(c, { kind: "done", text: `${name} is made. Install it, then choose repositories.` });
  return c.redirect(tenantPath(c, "github"), 303);
});

githubApi.post("/github/:app/remove", async (c) => {
  const { tenantId } = c.get("membership");
  await removeApp(c.get("db"), { tenantId, id: c.req.param("app"), actor: actorOfSession(c) });
  return done(c, { to: tenantPath(c, "github"), notice: "The App is removed. Delete it at GitHub, too." });
});
