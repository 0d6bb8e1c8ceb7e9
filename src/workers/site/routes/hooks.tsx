/** Push hooks of a repository: create (the secret is shown once), delete. */
import { Hono } from "hono";
import { createHook, deleteHook } from "../../../service/hooks/manage.ts";
import { registerHook } from "../../../service/hooks/register.ts";
import { done, invalid, readFields } from "../app/answers.tsx";
import { type DashboardHono, tenantPath } from "../app/context.ts";
import { actorOfSession } from "../app/fields.ts";
import { HOOK_PROVIDERS, type HookProvider } from "../../../service/db/people-schema.ts";
import { ONCE_FIELD, randomOf } from "../app/once.ts";
import { leaveSecret, takeSecret } from "../app/reveal.ts";
import { siteUrlOf } from "../app/settings.ts";
import { PROVIDER_NAMES } from "../views/hooks.tsx";
import { tenantPage } from "../views/layout.tsx";
import { Copyable, Head } from "../views/parts.tsx";
import { nameOf } from "../views/repositories.tsx";
import { depsOf } from "./repositories.tsx";
import { requireRepository } from "./runs.tsx";

export const hookPages = new Hono<DashboardHono>();
export const hookApi = new Hono<DashboardHono>();

const PLACES: Record<HookProvider, string> = {
  github: "Settings, Webhooks, Add webhook; content type application/json; just the push event",
  gitlab: "Settings, Webhooks, Add new webhook; the secret is its secret token; trigger: push events",
  gitea: "Settings, Webhooks, Add webhook, Gitea; POST, application/json; trigger: push events",
};

hookApi.post("/repositories/:id/hooks", async (c) => {
  const repository = await requireRepository(c);
  const fields = await readFields(c);
  const { tenantId } = c.get("membership");
  const { workspaceId } = repository;
  const provider = fields.text("provider");
  const random = await randomOf(c, fields.text(ONCE_FIELD), [workspaceId, provider]);
  const token = fields.text("token").trim();
  const cloneUrl = repository.source?.cloneUrl;
  if (token !== "" && cloneUrl === undefined)
    throw invalid("token", "set up the repository's clone address first: the hook is made at its host");
  const actor = actorOfSession(c);
  const db = c.get("db");
  const deps = depsOf(c);
  const hook = await createHook(deps, { tenantId, workspaceId, provider, actor, random });
  const url = `${siteUrlOf(c.env, c.req.raw)}/api/v1${hook.path}`;
  if (token !== "" && cloneUrl !== undefined) {
    const { gitHosts } = deps;
    const made = { provider: hook.provider, cloneUrl, token, url, secret: hook.secret };
    await registerHook({ fetch: (...given) => fetch(...given), gitHosts }, made).catch(async (error: unknown) => {
      // Without its counterpart at the host it would only be in the way of the next try.
      await deleteHook(db, { tenantId, workspaceId, id: hook.id, actor, isUndone: true });
      throw error;
    });
    const host = PROVIDER_NAMES[hook.provider];
    const notice = `The hook is made at ${host}: from now on pushes are indexed.`;
    return done(c, {
      to: tenantPath(c, `repositories/${workspaceId}`),
      status: 201,
      notice,
      data: { id: hook.id, url },
    });
  }
  const to = tenantPath(c, `repositories/${repository.workspaceId}/hook`);
  await leaveSecret(c, to, { provider: hook.provider, secret: hook.secret, url });
  return done(c, { to, status: 201, data: { id: hook.id, provider: hook.provider, secret: hook.secret, url } });
});

/** The hook that was made a moment ago, with its secret. */
hookPages.get("/repositories/:id/hook", async (c) => {
  const repository = await requireRepository(c);
  const page = tenantPath(c, `repositories/${repository.workspaceId}`);
  const made = await takeSecret(c, `${page}/hook`);
  const provider = HOOK_PROVIDERS.find((one) => one === made?.["provider"]);
  if (!made || !provider) return c.redirect(page, 303);
  const host = PROVIDER_NAMES[provider];
  return tenantPage(
    c,
    "repositories",
    { title: "New hook" },
    <>
      <Head title={`${host} hook`} crumb={<a href={page}>{nameOf(repository)}</a>} />
      <section class="secret" aria-label="New hook">
        <h2>Enter both at {host}</h2>
        <p>{PLACES[provider]}. The secret is not shown again.</p>
        <p class="label">Address</p>
        <Copyable text={made["url"] ?? ""} label="address of the hook" />
        <p class="label">Secret</p>
        <Copyable text={made["secret"] ?? ""} label="secret of the hook" />
      </section>
      <a class="button" href={page}>
        Done
      </a>
    </>,
  );
});

hookApi.post("/repositories/:id/hooks/:hook/delete", async (c) => {
  const { workspaceId } = await requireRepository(c);
  const { tenantId } = c.get("membership");
  await deleteHook(c.get("db"), { tenantId, workspaceId, id: c.req.param("hook"), actor: actorOfSession(c) });
  return done(c, { to: tenantPath(c, `repositories/${workspaceId}`), notice: "The hook is deleted." });
});
