/** Instructions for connecting each client. */
import { Hono } from "hono";
import { type DashboardHono, tenantPath } from "../app/context.ts";
import { siteUrlOf } from "../app/settings.ts";
import { API_PREFIX } from "../proxy.ts";
import { tenantPage } from "../views/layout.tsx";
import { Copyable, Head, Panel } from "../views/parts.tsx";

export const connectPages = new Hono<DashboardHono>();

const DEFAULT_CLIENT = "claude-code";

interface Client {
  id: string;
  name: string;
  steps: { text: string; code: string }[];
}

function clientsFor(site: string): Client[] {
  const api = site + API_PREFIX;
  const mcp = `${api}/mcp`;
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  return [
    {
      id: "sign-in",
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
          code: `claude mcp add --transport http code-context ${mcp} --header "Authorization: Bearer $CODECTX_API_KEY"`,
        },
      ],
    },
    {
      id: "cursor",
      name: "Cursor",
      steps: [
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
          code: `export CODECTX_API_URL=${api}\nexport CODECTX_API_KEY=…`,
        },
        { text: "Pull the team's index and search:", code: `codectx pull\ncodectx search "how are sessions closed"` },
      ],
    },
    {
      id: "http",
      name: "HTTP",
      steps: [
        {
          text: "Any client that speaks HTTP:",
          code: `curl ${api}/search \\\n  -H "Authorization: Bearer $CODECTX_API_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"query": "how are sessions closed"}'`,
        },
      ],
    },
  ];
}

connectPages.get("/connect", (c) => {
  const clients = clientsFor(siteUrlOf(c.env, c.req.raw));
  const chosen = clients.find(({ id }) => id === (c.req.query("client") ?? DEFAULT_CLIENT));
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
        <Panel title={chosen.name}>
          <div class="body">
            {chosen.steps.map(({ text, code }) => (
              <>
                <p>{text}</p>
                <Copyable text={code} label={`${chosen.name} configuration`} block />
              </>
            ))}
          </div>
        </Panel>
      )}
    </>,
  );
});
