/** API keys and worker tokens: list, create (the value is shown once), revoke. */
import { Hono } from "hono";
import { type KeyUsage, listKeyUsage } from "../../../service/dashboard/keys.ts";
import { flushUsage } from "../../../service/gate/client.ts";
import { type CredentialKind, deriveCredentialKey } from "../../../service/tenancy/credentials.ts";
import { createKey, revokeKey } from "../../../service/tenancy/keys.ts";
import { canManage } from "../../../service/users/index.ts";
import { done, invalid, readFields } from "../app/answers.tsx";
import { type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
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
const EXPIRY_DAYS = [30, 90, 365];
const DAY_MS = 86_400_000;

keyPages.get("/keys", async (c) => {
  const { tenantId, slug, role } = c.get("membership");
  const shown = await takeSecret(c, tenantPath(c, "keys"));
  await flushUsage(c.env.TENANT_GATE, tenantId);
  const keys = await listKeyUsage(c.get("db"), tenantId);
  const manages = canManage(role);
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
        text="All keys of a team share its budget and quota. A revoked key is refused within a second."
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
      {manages && (
        <Panel title="New key">
          <div class="body">
            <Form action={base}>
              <div class="row">
                <Field label="Name" name="name" required maxlength={100} placeholder="laptop, CI, agent …" />
                <Select label="Kind" name="kind" options={KINDS} />
                <Select
                  label="Expires"
                  name="expiresInDays"
                  options={[["", "never"], ...EXPIRY_DAYS.map((days) => [String(days), `in ${days} days`] as const)]}
                />
                <button class="primary">Create</button>
              </div>
            </Form>
          </div>
        </Panel>
      )}
      {groups.map(([kind, text]) => (
        <Panel title={`${KIND_NAMES[kind]}s`} text={text}>
          <KeyTable keys={keys.filter((key) => key.kind === kind)} base={manages ? base : undefined} kind={kind} />
        </Panel>
      ))}
    </>,
  );
});

function KeyTable({ keys, base, kind }: { keys: KeyUsage[]; base: string | undefined; kind: CredentialKind }) {
  if (keys.length === 0) return <Empty title={kind === "api_key" ? "No API key yet" : "No worker token yet"} />;
  return (
    <Table
      label={`${KIND_NAMES[kind]}s`}
      headings={["Name", "Public id", "State", "Last used", { num: "Credits, 30 days" }, "Created", "Expires", ACTIONS]}
    >
      {keys.map((key) => (
        <tr>
          <th scope="row">{key.name}</th>
          <td>
            <code title={key.id}>…{key.id.slice(-8)}</code>
          </td>
          <td>{stateTag(key)}</td>
          <TimeCell at={key.lastUsedAt} />
          <td class="num">{formatCount(key.credits)}</td>
          <TimeCell at={key.createdAt} />
          <TimeCell at={key.expiresAt} />
          <td class="actions">
            {base !== undefined && key.revokedAt === null && (
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

function stateTag(key: KeyUsage) {
  if (key.revokedAt !== null) return <span class="tag bad">revoked</span>;
  if (key.expiresAt !== null && key.expiresAt.getTime() <= Date.now()) return <span class="tag warn">expired</span>;
  return <span class="tag ok">active</span>;
}

keyApi.get("/keys", async (c) =>
  c.json({ ok: true, keys: await listKeyUsage(c.get("db"), c.get("membership").tenantId) }),
);

keyApi.post("/keys", async (c) => {
  const fields = await readFields(c);
  const kind = (["api_key", "worker_token"] as const).find((one) => one === fields.text("kind"));
  if (!kind) throw invalid("kind", "expected api_key or worker_token");
  const name = fields.text("name").trim();
  const expiresAt = expiryOf(fields.text("expiresInDays"));
  const { tenantId } = c.get("membership");
  const input = { tenantId, name, kind, actor: actorOfSession(c), ...(expiresAt && { expiresAt }) };
  const { id, value } = await createKey(c.get("db"), input, deriveCredentialKey(c.env.ENCRYPTION_KEY));
  const to = tenantPath(c, "keys");
  await leaveSecret(c, to, { label: KIND_NAMES[kind], name, value });
  return done(c, {
    to,
    status: 201,
    data: { id, kind, name, value, expiresAt: expiresAt?.toISOString() ?? null },
  });
});

keyApi.post("/keys/:id/revoke", async (c) => {
  const { tenantId } = c.get("membership");
  const isRevoked = await revokeKey(c.get("db"), { tenantId, id: c.req.param("id"), actor: actorOfSession(c) });
  if (!isRevoked) throw new DashboardError("NOT_FOUND", "the key is already revoked");
  return done(c, { to: tenantPath(c, "keys"), notice: "The key is revoked." });
});

function expiryOf(text: string): Date | undefined {
  if (text === "") return undefined;
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > 3_650) throw invalid("expiresInDays", "expected 1 to 3650 days");
  return new Date(Date.now() + days * DAY_MS);
}
