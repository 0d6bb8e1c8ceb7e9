/** Settings of a team: name, shared-index opt-in, mail, retention, leaving, deleting. */
import { Hono } from "hono";
import { changeTenant, readTenant } from "../../../service/dashboard/tenant.ts";
import { closeGate } from "../../../service/gate/client.ts";
import { eraseTenant } from "../../../service/tenancy/erase.ts";
import { RETENTION_DAYS } from "../../../service/tenancy/retention.ts";
import { carryCredits, canManage } from "../../../service/users/index.ts";
import { done, invalid, readFields } from "../app/answers.tsx";
import { type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { actorOfSession } from "../app/fields.ts";
import { formatCount } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { Confirm, Field, Form, Head, Panel, Select } from "../views/parts.tsx";

export const settingsPages = new Hono<DashboardHono>();
export const settingsApi = new Hono<DashboardHono>();

settingsPages.get("/settings", async (c) => {
  const { tenantId, slug, role, name } = c.get("membership");
  const tenant = await readTenant(c.get("db"), tenantId);
  const base = `/app/api/tenants/${slug}`;
  const manages = canManage(role);
  return tenantPage(
    c,
    "settings",
    { title: "Settings" },
    <>
      <Head title="Settings" text={`You are ${role === "member" ? "a" : "an"} ${role} of ${name}.`}>
        <a class="button" href={tenantPath(c, "audit")}>
          Audit log
        </a>
      </Head>
      <Panel title="Team">
        <div class="body">
          {manages ? (
            <Form action={`${base}/settings`}>
              <Field label="Name" name="name" value={tenant.name} required maxlength={100} />
              <Check
                name="sharedIndex"
                checked={tenant.sharedIndex}
                label="Share the index"
                hint="Machines of the team publish index snapshots and pull those of others."
              />
              <button type="submit" class="primary">
                Save
              </button>
            </Form>
          ) : (
            <dl class="facts">
              <dt>Name</dt>
              <dd>{tenant.name}</dd>
              <dt>Shared index</dt>
              <dd>{tenant.sharedIndex ? "on" : "off"}</dd>
            </dl>
          )}
        </div>
      </Panel>
      <Panel title="Mail to owners" text="Sent within some minutes, once for each event.">
        <div class="body">
          {manages ? (
            <Form action={`${base}/settings/mail`}>
              <Check
                name="mailQuota"
                checked={tenant.mailQuota}
                label="Quota"
                hint="80 % and 100 % of the month's credits are used."
              />
              <Check
                name="mailRuns"
                checked={tenant.mailRuns}
                label="Runs that pushes start"
                hint="One has failed, and the first that succeeds afterwards."
              />
              <button type="submit" class="primary">
                Save<span class="sr"> which mail owners get</span>
              </button>
            </Form>
          ) : (
            <dl class="facts">
              <dt>Quota</dt>
              <dd>{tenant.mailQuota ? "on" : "off"}</dd>
              <dt>Runs that pushes start</dt>
              <dd>{tenant.mailRuns ? "on" : "off"}</dd>
            </dl>
          )}
        </div>
      </Panel>
      <Panel
        title="Retention"
        text="Older records are deleted every day and cannot be restored. The last five revisions and snapshots of each repository, and the last revision of each branch, are kept whatever their age."
      >
        <div class="body">
          {manages ? (
            <Form action={`${base}/settings/retention`}>
              <div class="row">
                <Select
                  label="Finished runs"
                  name="runDays"
                  value={String(tenant.runDays)}
                  options={RETENTION_DAYS.runDays.map(daysOption)}
                />
                <Select
                  label="Audit log"
                  name="auditDays"
                  value={String(tenant.auditDays)}
                  options={RETENTION_DAYS.auditDays.map(daysOption)}
                />
                <button type="submit" class="primary">
                  Save<span class="sr"> how long records are kept</span>
                </button>
              </div>
            </Form>
          ) : (
            <dl class="facts">
              <dt>Finished runs</dt>
              <dd>{tenant.runDays} days</dd>
              <dt>Audit log</dt>
              <dd>{tenant.auditDays} days</dd>
            </dl>
          )}
        </div>
      </Panel>
      <Panel
        title="Budgets"
        text={`The team has ${formatCount(tenant.monthlyCredits)} credits a month. Each key and agent can be given a part of them, and a rate of its own.`}
        aside={<a href={tenantPath(c, "keys")}>Budgets of keys</a>}
      />
      <Panel title="Identifiers">
        <div class="body">
          <dl class="facts">
            <dt>Team id</dt>
            <dd>
              <code>{tenantId}</code>
            </dd>
            <dt>Address</dt>
            <dd>
              <code>/app/{slug}</code>
            </dd>
          </dl>
        </div>
      </Panel>
      <Panel
        title="Leave the team"
        text="You lose access to the team. Your personal keys and your agents end; keys of the team keep working."
        aside={
          <Confirm
            label="Leave …"
            title={`Leave ${name}?`}
            question="You need an invitation to come back."
            action={`${base}/leave`}
            button="Leave the team"
          />
        }
      />
      {role === "owner" && (
        <Panel
          title="Delete the team"
          danger
          text="Deletes its repositories, indexes, snapshots, keys, members and audit log, for good."
          aside={
            <Confirm
              label="Delete …"
              title={`Delete ${name}?`}
              question={`This cannot be undone. Type the team's address to confirm: ${slug}`}
              action={`${base}/delete`}
              button="Delete for good"
            >
              <Field label="Address of the team" name="confirm" required autocomplete="off" />
            </Confirm>
          }
        />
      )}
    </>,
  );
});

const daysOption = (days: number) => [String(days), `${days} days`] as const;

function Check({ name, checked, label, hint }: { name: string; checked: boolean; label: string; hint: string }) {
  return (
    <div class="field">
      <label class="check">
        <input type="checkbox" name={name} checked={checked} />
        <span>
          <strong>{label}</strong>
          <span class="hint"> {hint}</span>
        </span>
      </label>
    </div>
  );
}

settingsApi.get("/settings", async (c) =>
  c.json({
    ok: true,
    tenant: { id: c.get("membership").tenantId, ...(await readTenant(c.get("db"), c.get("membership").tenantId)) },
  }),
);

settingsApi.post("/settings", async (c) => {
  const fields = await readFields(c);
  const { tenantId } = c.get("membership");
  const change = { name: fields.text("name"), sharedIndex: fields.flag("sharedIndex") };
  await changeTenant(c.get("db"), { tenantId, actor: actorOfSession(c), change });
  return done(c, { to: tenantPath(c, "settings"), notice: "Saved." });
});

settingsApi.post("/settings/mail", async (c) => {
  const fields = await readFields(c);
  const { tenantId } = c.get("membership");
  const change = { mailQuota: fields.flag("mailQuota"), mailRuns: fields.flag("mailRuns") };
  await changeTenant(c.get("db"), { tenantId, actor: actorOfSession(c), change });
  return done(c, { to: tenantPath(c, "settings"), notice: "Saved." });
});

settingsApi.post("/settings/retention", async (c) => {
  const fields = await readFields(c);
  const { tenantId } = c.get("membership");
  const read = (name: keyof typeof RETENTION_DAYS): number => {
    const days = RETENTION_DAYS[name].find((one) => String(one) === fields.text(name));
    if (days === undefined) throw invalid(name, `expected one of ${RETENTION_DAYS[name].join(", ")} days`);
    return days;
  };
  const change = { runDays: read("runDays"), auditDays: read("auditDays") };
  await changeTenant(c.get("db"), { tenantId, actor: actorOfSession(c), change });
  return done(c, { to: tenantPath(c, "settings"), notice: "Saved." });
});

/** Pages of rows that the request deletes itself: enough for a small team. The indexer's cron deletes the rest. */
const ERASED_PAGES = 20;

settingsApi.post("/delete", async (c) => {
  const { tenantId, role, slug, name } = c.get("membership");
  if (role !== "owner") throw new DashboardError("FORBIDDEN", "only an owner can delete the team");
  const fields = await readFields(c);
  if (fields.text("confirm").trim() !== slug) {
    throw new DashboardError("INVALID_BODY", `confirm: type ${slug} to delete the team`, { field: "confirm" });
  }
  const used = await closeGate(c.env.TENANT_GATE, tenantId);
  if ("outcome" in used) {
    throw new DashboardError("UNAVAILABLE", "the service is busy; try again", { retryAfterSec: 5 });
  }
  await carryCredits(c.get("accounts"), { tenantId, ...used });
  await eraseTenant(c.get("db"), tenantId, ERASED_PAGES);
  c.get("log").info("tenant_deleted", { tenantId, actor: actorOfSession(c) });
  return done(c, { to: "/app", notice: `${name} is deleted.` });
});
