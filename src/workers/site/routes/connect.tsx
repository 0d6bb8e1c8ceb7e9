/** Instructions for connecting each client. */
import { Hono } from "hono";
import { type FirstSteps, readFirstSteps } from "../../../service/dashboard/tenant.ts";
import { canManage } from "../../../service/users/index.ts";
import { type DashboardHono, sessionOf, tenantPath } from "../app/context.ts";
import { newOnce, ONCE_FIELD } from "../app/once.ts";
import { takeSecret } from "../app/reveal.ts";
import { siteUrlOf } from "../app/settings.ts";
import { API_PREFIX } from "../proxy.ts";
import { tenantPage } from "../views/layout.tsx";
import { Copyable, Form, Head, Panel, Time } from "../views/parts.tsx";

export const connectPages = new Hono<DashboardHono>();

const DEFAULT_CLIENT = "claude-code";
/** The client that needs no key. */
const SIGN_IN = "sign-in";

interface Client {
  id: string;
  name: string;
  steps: { text: string; code: string }[];
}

/** Settings of each client; with `key`, filled in with it where they are on the person's own machine only. */
function clientsFor(site: string, key: string | undefined): Client[] {
  const api = site + API_PREFIX;
  const inEnvironment = {
    text: key === undefined ? "Put your API key into the environment:" : "Put the key into the environment:",
    code: `export CODECTX_API_KEY=${key ?? "…"}`,
  };
  const mcp = `${api}/mcp`;
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  return [
    {
      id: SIGN_IN,
      name: "Claude, ChatGPT, any with OAuth",
      steps: [
        {
          text: "Add this address as a connector. The client opens a page here, on which you choose what it may ask; it needs no key:",
          code: `${site}/mcp`,
        },
      ],
    },
    {
      id: "claude-code",
      name: "Claude Code",
      steps: [
        {
          text: "Run this in your project:",
          code: `claude mcp add --transport http code-context ${mcp} --header "Authorization: Bearer ${key ?? "$CODECTX_API_KEY"}"`,
        },
      ],
    },
    {
      id: "cursor",
      name: "Cursor",
      steps: [
        inEnvironment,
        {
          text: "Add to .cursor/mcp.json:",
          code: json({
            mcpServers: {
              "code-context": { url: mcp, headers: { Authorization: "Bearer ${env:CODECTX_API_KEY}" } },
            },
          }),
        },
      ],
    },
    {
      id: "vscode",
      name: "VS Code",
      steps: [
        ...(key === undefined ? [] : [{ text: "The key, for which VS Code asks once:", code: key }]),
        {
          text: "Add to .vscode/mcp.json; VS Code asks for the key once:",
          code: json({
            inputs: [{ type: "promptString", id: "codectx-key", description: "Code Context API key", password: true }],
            servers: {
              "code-context": { type: "http", url: mcp, headers: { Authorization: "Bearer ${input:codectx-key}" } },
            },
          }),
        },
      ],
    },
    {
      id: "codex",
      name: "Codex",
      steps: [
        inEnvironment,
        {
          text: "Add to ~/.codex/config.toml:",
          code: `[mcp_servers.code-context]\nurl = "${mcp}"\nbearer_token_env_var = "CODECTX_API_KEY"`,
        },
      ],
    },
    {
      id: "cli",
      name: "Command line",
      steps: [
        {
          text: "Configure the service's address and your key:",
          code: `export CODECTX_API_URL=${api}\n${inEnvironment.code}`,
        },
        { text: "Pull the team's index and search:", code: `codectx pull\ncodectx search "how are sessions closed"` },
      ],
    },
    {
      id: "http",
      name: "HTTP",
      steps: [
        inEnvironment,
        {
          text: "Any client that speaks HTTP:",
          code: `curl ${api}/search \\\n  -H "Authorization: Bearer $CODECTX_API_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"query": "how are sessions closed"}'`,
        },
      ],
    },
  ];
}

connectPages.get("/connect", async (c) => {
  const { tenantId, slug, role } = c.get("membership");
  const made = await takeSecret(c, tenantPath(c, "connect"));
  const clients = clientsFor(siteUrlOf(c.env, c.req.raw), made?.["value"]);
  const chosen = clients.find(({ id }) => id === (c.req.query("client") ?? DEFAULT_CLIENT)) ?? clients[0];
  const person = { tenantId, userId: sessionOf(c).user.id, manages: canManage(role) };
  const steps = await readFirstSteps(c.get("db"), person);
  return tenantPage(
    c,
    "connect",
    { title: "Connect" },
    <>
      <Head
        title="Connect"
        text={
          <>
            Agents ask over MCP. They sign in, or have an <a href={tenantPath(c, "keys")}>API key</a> in the variable{" "}
            <code>CODECTX_API_KEY</code>.
          </>
        }
      >
        <a class="button" href={tenantPath(c, "keys")}>
          Keys and connected agents
        </a>
      </Head>
      {made ? (
        <>
          <section class="secret" aria-label="New key">
            <h2>Your API key “{made["name"]}”</h2>
            <p>
              Copy it now, or the settings of your agent below, which have it: it is not stored and cannot be shown
              again.
            </p>
            <Copyable text={made["value"] ?? ""} label="API key" />
          </section>
          <FirstCall steps={steps} />
          {clients.map((client) => (
            <details class="panel client" open={client.id === chosen?.id}>
              <summary>{client.name}</summary>
              <Steps client={client} />
            </details>
          ))}
        </>
      ) : (
        <>
          <nav aria-label="Clients">
            <ul class="tabs">
              {clients.map(({ id, name }) => (
                <li>
                  <a href={`?client=${id}`} {...(id === chosen?.id ? { "aria-current": "page" } : {})}>
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          {chosen && (
            <Panel
              title={chosen.name}
              aside={
                chosen.id !== SIGN_IN && (
                  <Form action={`/app/api/tenants/${slug}/keys`} inline>
                    <input type="hidden" name={ONCE_FIELD} value={await newOnce(c)} />
                    <input type="hidden" name="kind" value="api_key" />
                    <input type="hidden" name="owner" value="me" />
                    <input type="hidden" name="name" value={chosen.name} />
                    <input type="hidden" name="page" value="connect" />
                    <button type="submit">Make a key of my own and fill it in</button>
                  </Form>
                )
              }
            >
              <Steps client={chosen} />
            </Panel>
          )}
          <FirstCall steps={steps} />
        </>
      )}
    </>,
  );
});

function Steps({ client: { name, steps } }: { client: Client }) {
  return (
    <div class="body">
      {steps.map(({ text, code }) => (
        <>
          <p>{text}</p>
          <Copyable text={code} label={`${name}: ${text.replace(/:$/, "")}`} block />
        </>
      ))}
    </div>
  );
}

/** Whether the person's agent has called. */
function FirstCall({ steps: { lastCallAt, lastCallBy } }: { steps: FirstSteps }) {
  return (
    <p id="first-call" class="soft" role="status" {...(lastCallAt === null ? { "data-refresh": "3" } : {})}>
      {lastCallAt === null ? (
        "No call has arrived yet. This line changes some seconds after the first."
      ) : (
        <>
          <span class="tag ok">connected</span> {lastCallBy} has called, last <Time at={lastCallAt} />.
        </>
      )}
    </p>
  );
}
