/** Push hooks of a repository: create (the secret is shown once), delete. */
import { Hono } from "hono";
import { createHook, deleteHook, type NewHook } from "../../../service/hooks/manage.ts";
import { done, readFields, wantsJson } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { actorOfSession } from "../app/fields.ts";
import type { HookProvider } from "../../../service/db/people-schema.ts";
import { siteUrlOf } from "../app/settings.ts";
import { PROVIDER_NAMES } from "../views/hooks.tsx";
import { tenantPage } from "../views/layout.tsx";
import { Copyable, Head } from "../views/parts.tsx";
import { nameOf } from "../views/repositories.tsx";
import { requireRepository } from "./runs.tsx";

export const hookApi = new Hono<DashboardHono>();

hookApi.post("/repositories/:id/hooks", async (c) => {
  const repository = await requireRepository(c);
  const fields = await readFields(c);
  const { tenantId } = c.get("membership");
  const hook = await createHook(
    { db: c.get("db"), encryptionKey: c.env.ENCRYPTION_KEY },
    { tenantId, workspaceId: repository.workspaceId, provider: fields.text("provider"), actor: actorOfSession(c) },
  );
  const url = `${siteUrlOf(c.env, c.req.raw)}/api/v1${hook.path}`;
  if (wantsJson(c)) return c.json({ ok: true, id: hook.id, provider: hook.provider, secret: hook.secret, url }, 201);
  return hookPage(c, hook, url, { page: `repositories/${repository.workspaceId}`, name: nameOf(repository) });
});

hookApi.post("/repositories/:id/hooks/:hook/delete", async (c) => {
  const { workspaceId } = await requireRepository(c);
  const { tenantId } = c.get("membership");
  await deleteHook(c.get("db"), { tenantId, workspaceId, id: c.req.param("hook"), actor: actorOfSession(c) });
  return done(c, { to: tenantPath(c, `repositories/${workspaceId}`), notice: "The hook is deleted." });
});

const PLACES: Record<HookProvider, string> = {
  github: "Settings, Webhooks, Add webhook; content type application/json; just the push event",
  gitlab: "Settings, Webhooks, Add new webhook; the secret is its secret token; trigger: push events",
  gitea: "Settings, Webhooks, Add webhook, Gitea; POST, application/json; trigger: push events",
};

function hookPage(c: DashboardContext, hook: NewHook, url: string, repository: { page: string; name: string }) {
  const host = PROVIDER_NAMES[hook.provider];
  return tenantPage(
    c,
    "repositories",
    { title: "New hook", status: 201 },
    <>
      <Head title={`${host} hook`} crumb={<a href={tenantPath(c, repository.page)}>{repository.name}</a>} />
      <section class="secret" aria-label="New hook">
        <h2>Enter both at {host}</h2>
        <p>{PLACES[hook.provider]}. The secret is not shown again.</p>
        <p class="label">Address</p>
        <Copyable text={url} label="address of the hook" />
        <p class="label">Secret</p>
        <Copyable text={hook.secret} label="secret of the hook" />
      </section>
      <a class="button" href={tenantPath(c, repository.page)}>
        Done
      </a>
    </>,
  );
}
