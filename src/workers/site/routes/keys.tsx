/**
 * API keys, worker tokens and connected agents: list, create (the value is shown once), revoke. Members see, make and revoke their own;
 * owners and admins also those of the team, and they see whose the others are.
 */
import { Hono } from "hono";
import { Restrictions } from "../../../contract/credentials.ts";
import { type KeyUsage, listKeyUsage } from "../../../service/dashboard/keys.ts";
import { flushUsage } from "../../../service/gate/client.ts";
import { type CredentialKind, deriveCredentialKey } from "../../../service/tenancy/credentials.ts";
import { changeKeyBudget, createKey, revokeKey } from "../../../service/tenancy/keys.ts";
import { canManage } from "../../../service/users/index.ts";
import { done, type Fields, invalid, readFields } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, sessionOf, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { newOnce, ONCE_FIELD, randomOf } from "../app/once.ts";
import { leaveSecret, takeSecret } from "../app/reveal.ts";
import { actorOfSession } from "../app/fields.ts";
import { formatCount } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { Confirm, Copyable, Empty, Field, Form, Head, Panel, Select } from "../views/parts.tsx";
import { ACTIONS, Table, TimeCell } from "../views/table.tsx";

export const keyPages = new Hono<DashboardHono>();
export const keyApi = new Hono<DashboardHono>();

const KIND_NAMES: Record<CredentialKind, string> = { api_key: "API key", worker_token: "Worker token" };
const KINDS = Object.entries(KIND_NAMES);
const OWNERS = [
  ["team", "the team's"],
  ["me", "mine"],
] as const;
const MAX_REPOS_SHOWN = 3;
const EXPIRY_DAYS = [30, 90, 365];
const DAY_MS = 86_400_000;

keyPages.get("/keys", async (c) => {
  const { tenantId, slug, role } = c.get("membership");
  const shown = await takeSecret(c, tenantPath(c, "keys"));
  await flushUsage(c.env.TENANT_GATE, tenantId);
  const manages = canManage(role);
  const keys = await listKeyUsage(c.get("db"), tenantId, manages ? undefined : sessionOf(c).user.id);
  const agents = keys.filter(({ agent }) => agent !== null);
  const base = `/app/api/tenants/${slug}/keys`;
  const groups: [CredentialKind, string][] = [
    ["api_key", "For agents and the command line: search, embed, snapshots, MCP."],
    ["worker_token", "For CI: starts index runs and publishes snapshots."],
  ];
  return tenantPage(
    c,
    "keys",
    { title: "Keys" },
    <>
      <Head
        title="Keys"
        crumb={<a href={tenantPath(c, "connect")}>Connect</a>}
        text={
          manages
            ? "All keys of a team share its budget and quota. A personal key ends when its member leaves. A revoked key is refused within a second."
            : "These are yours alone and end when you leave the team, whose budget and quota they share. A revoked key is refused within a second."
        }
      />
      {shown && (
        <section class="secret" aria-label="New key">
          <h2>
            {shown["label"]} “{shown["name"]}”
          </h2>
          <p>Copy it now: it is not stored and cannot be shown again.</p>
          <Copyable text={shown["value"] ?? ""} label={shown["label"] ?? ""} />
        </section>
      )}
      <Panel title={manages ? "New key" : "New personal key"}>
        <div class="body">
          <Form action={base}>
            <input type="hidden" name={ONCE_FIELD} value={await newOnce(c)} />
            <div class="row">
              <Field label="Name" name="name" required maxlength={100} placeholder="laptop, CI, agent …" />
              {manages ? (
                <>
                  <Select label="Kind" name="kind" options={KINDS} />
                  <Select label="Whose" name="owner" options={OWNERS} />
                </>
              ) : (
                <input type="hidden" name="kind" value="api_key" />
              )}
              <Select
                label="Expires"
                name="expiresInDays"
                options={[["", "never"], ...EXPIRY_DAYS.map((days) => [String(days), `in ${days} days`] as const)]}
              />
              <button type="submit" class="primary">
                Create
              </button>
            </div>
            <details id="new-key-budget">
              <summary>Budget</summary>
              <BudgetFields id="new" />
            </details>
          </Form>
        </div>
      </Panel>
      {groups
        .filter(([kind]) => manages || kind === "api_key")
        .map(([kind, text]) => (
          <Panel title={`${KIND_NAMES[kind]}s`} text={text}>
            <KeyTable
              keys={keys.filter((key) => key.kind === kind && key.agent === null)}
              base={base}
              manages={manages}
              label={`${KIND_NAMES[kind]}s`}
              empty={kind === "api_key" ? "No API key yet" : "No worker token yet"}
            />
          </Panel>
        ))}
      <Panel title="Connected agents" text="Agents that signed in for one of the team's members.">
        <KeyTable keys={agents} base={base} manages={manages} label="Connected agents" empty="No agent is connected" />
      </Panel>
    </>,
  );
});

interface KeyTableProps {
  keys: KeyUsage[];
  base: string;
  /** Whether the person may change budgets: of a member's key the team decides. */
  manages: boolean;
  label: string;
  empty: string;
}

function KeyTable({ keys, base, manages, label, empty }: KeyTableProps) {
  if (keys.length === 0) return <Empty title={empty} />;
  return (
    <Table
      label={label}
      headings={[
        "Name and public id",
        "Whose",
        "Limits",
        "State",
        "Last used",
        { num: "Credits, 30 days" },
        "Created",
        "Expires",
        ACTIONS,
      ]}
    >
      {keys.map((key) => (
        <tr>
          <th scope="row">
            <span class="clip" title={key.name}>
              {key.name}
            </span>
            {key.agent && <span class="soft small">at {key.agent.host} </span>}
            <code title={`Public id: ${key.id}`}>…{key.id.slice(-8)}</code>
          </th>
          <td data-label="Of">
            <span class="clip" title={key.owner ?? undefined}>
              {key.owner ?? "the team"}
            </span>
          </td>
          <td class="small reason" data-label="Limits">
            {limitsOf(key)}
          </td>
          <td>{stateTag(key)}</td>
          <TimeCell at={key.lastUsedAt} label="Last used" />
          <td class="num" data-label="Credits, 30 days">
            {formatCount(key.credits)}
          </td>
          <TimeCell at={key.createdAt} label="Created" />
          <TimeCell at={key.expiresAt} label="Expires" />
          <td class="actions">
            {key.revokedAt === null && manages && (
              <Confirm
                label="Budget …"
                subject={key.name}
                title={`Budget of “${key.name}”`}
                question="Part of the team's quota and limits, tokens made from the key included. Empty: not limited."
                action={`${base}/${key.id}/budget`}
                button="Set the budget"
                isDestructive={false}
              >
                <BudgetFields id={key.id} restrictions={key.restrictions} />
              </Confirm>
            )}{" "}
            {key.revokedAt === null && (
              <Confirm
                label="Revoke …"
                subject={key.name}
                title={`Revoke “${key.name}”?`}
                question={`Requests with “${key.name}” will be refused from now on. This cannot be undone.`}
                action={`${base}/${key.id}/revoke`}
                button="Revoke for good"
              />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Fields of a key's budget; `id` tells those of several keys on the page apart. */
function BudgetFields({ id, restrictions }: { id: string; restrictions?: KeyUsage["restrictions"] }) {
  const fields = [
    ["monthlyCredits", "Credits a month", 0, restrictions?.monthlyCredits],
    ["ratePerMinute", "Requests a minute", 1, restrictions?.ratePerMinute],
  ] as const;
  return (
    <div class="row">
      {fields.map(([name, label, min, value]) => (
        <div class="field fit">
          <label for={`${name}-${id}`}>{label}</label>
          <input id={`${name}-${id}`} name={name} type="number" min={min} value={value} placeholder="not limited" />
        </div>
      ))}
    </div>
  );
}

/** Reads the fields of a budget. Throws `DashboardError` that names the field. */
function readBudget(fields: Fields): Pick<Restrictions, "monthlyCredits" | "ratePerMinute"> {
  const number = (name: "monthlyCredits" | "ratePerMinute") => {
    const text = fields.text(name).trim();
    if (text === "") return {};
    const { data, error } = Restrictions.shape[name].safeParse(/^\d{1,10}$/.test(text) ? Number(text) : text);
    if (error || data === undefined) throw invalid(name, "expected a whole number in the allowed range, or nothing");
    return { [name]: data };
  };
  return { ...number("monthlyCredits"), ...number("ratePerMinute") };
}

/** What a key is limited to, in words. */
function limitsOf({ restrictions }: KeyUsage): string {
  const { repos, scopes, monthlyCredits, ratePerMinute } = restrictions ?? {};
  const parts = [
    ...(scopes ? [scopes.join(", ")] : []),
    ...(repos ? [repos.length > MAX_REPOS_SHOWN ? `${repos.length} repositories` : repos.join(", ")] : []),
    ...(monthlyCredits === undefined ? [] : [`${formatCount(monthlyCredits)} credits a month`]),
    ...(ratePerMinute === undefined ? [] : [`${formatCount(ratePerMinute)} requests a minute`]),
  ];
  return parts.length === 0 ? "none" : parts.join("; ");
}

function stateTag(key: KeyUsage) {
  if (key.revokedAt !== null) return <span class="tag bad">revoked</span>;
  if (key.expiresAt !== null && key.expiresAt.getTime() <= Date.now()) return <span class="tag warn">expired</span>;
  return <span class="tag ok">active</span>;
}

keyApi.get("/keys", async (c) => {
  const { tenantId, role } = c.get("membership");
  const keys = await listKeyUsage(c.get("db"), tenantId, canManage(role) ? undefined : sessionOf(c).user.id);
  return c.json({ ok: true, keys });
});

keyApi.post("/keys", async (c) => {
  const fields = await readFields(c);
  const kind = (["api_key", "worker_token"] as const).find((one) => one === fields.text("kind"));
  if (!kind) throw invalid("kind", "expected api_key or worker_token");
  const name = fields.text("name").trim();
  const expiresAt = expiryOf(fields.text("expiresInDays"));
  const { tenantId, role } = c.get("membership");
  const manages = canManage(role);
  if (!manages && kind !== "api_key")
    throw new DashboardError("FORBIDDEN", "only owners and admins make worker tokens");
  // A personal key ends with its owner's membership, so a member's key is always personal.
  const isPersonal = !manages || fields.text("owner") === "me";
  if (isPersonal && kind !== "api_key") throw invalid("owner", "a worker token belongs to the team");
  const restrictions = readBudget(fields);
  const input = {
    tenantId,
    name,
    kind,
    restrictions,
    actor: actorOfSession(c),
    ...(isPersonal && { userId: sessionOf(c).user.id }),
    ...(expiresAt && { expiresAt }),
  };
  const random = await randomOf(c, fields.text(ONCE_FIELD), [
    kind,
    name,
    isPersonal ? "me" : "team",
    fields.text("expiresInDays"),
    // A form without a budget makes the key that it made before budgets could be given.
    ...(Object.keys(restrictions).length > 0 ? [JSON.stringify(restrictions)] : []),
  ]);
  const { id, value, isRepeated } = await createKey(
    c.get("db"),
    { ...input, ...(random && { random }) },
    deriveCredentialKey(c.env.ENCRYPTION_KEY),
  );
  if (isRepeated && (await isRevoked(c, id)))
    throw new DashboardError("CONFLICT", "the key that this form has made is revoked; load the page again for another");
  // The page of agents shows the key in their settings.
  const page = tenantPath(c, fields.text("page") === "connect" ? "connect" : "keys");
  await leaveSecret(c, page, { label: KIND_NAMES[kind], name, value });
  return done(c, {
    to: page,
    status: 201,
    data: { id, kind, name, value, expiresAt: expiresAt?.toISOString() ?? null },
  });
});

async function isRevoked(c: DashboardContext, id: string): Promise<boolean> {
  const keys = await listKeyUsage(c.get("db"), c.get("membership").tenantId);
  // Those that are not listed are the oldest revoked ones.
  return keys.find((key) => key.id === id)?.revokedAt !== null;
}

keyApi.post("/keys/:id/budget", async (c) => {
  const fields = await readFields(c);
  const { tenantId } = c.get("membership");
  const budget = readBudget(fields);
  await changeKeyBudget(c.get("db"), { tenantId, id: c.req.param("id"), actor: actorOfSession(c), budget });
  return done(c, { to: tenantPath(c, "keys"), notice: "The budget is set." });
});

keyApi.post("/keys/:id/revoke", async (c) => {
  const { tenantId, role } = c.get("membership");
  const own = canManage(role) ? {} : { userId: sessionOf(c).user.id };
  const isRevokedNow = await revokeKey(c.get("db"), {
    tenantId,
    id: c.req.param("id"),
    actor: actorOfSession(c),
    ...own,
  });
  if (!isRevokedNow) throw new DashboardError("NOT_FOUND", "the key is already revoked");
  return done(c, { to: tenantPath(c, "keys"), notice: "The key is revoked." });
});

function expiryOf(text: string): Date | undefined {
  if (text === "") return undefined;
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > 3_650) throw invalid("expiresInDays", "expected 1 to 3650 days");
  return new Date(Date.now() + days * DAY_MS);
}
