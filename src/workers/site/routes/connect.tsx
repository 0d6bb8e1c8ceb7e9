/** First steps, and instructions for connecting each client. */
import { Hono } from "hono";
import { readFirstSteps } from "../../../service/dashboard/tenant.ts";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { siteUrlOf } from "../app/settings.ts";
import { API_PREFIX } from "../proxy.ts";
import { tenantPage } from "../views/layout.tsx";
import { Copyable, Head, Panel } from "../views/parts.tsx";

export const connectPages = new Hono<DashboardHono>();

connectPages.get("/", async (c) => {
  const steps = await readFirstSteps(c.get("db"), c.get("membership").tenantId);
  return c.redirect(tenantPath(c, steps.hasIndex ? "search" : "start"), 303);
});

connectPages.get("/start", async (c) => {
  const steps = await readFirstSteps(c.get("db"), c.get("membership").tenantId);
  const api = apiAddress(c);
  const all = steps.hasKey && steps.keyUsed && steps.hasIndex && steps.hasSearched;
  return tenantPage(
    c,
    "start",
    { title: "First steps" },
    <>
      <Head title="First steps" text="Complete the steps in any order; this page updates itself." />
      <section class="panel" id="steps" aria-live="polite" {...(all ? {} : { "data-refresh": "3" })}>
        <ol class="steps">
          <Step done={steps.hasKey} number={1} title="Make an API key">
            <p class="soft">Agents and the command line send it with every request.</p>
            {!steps.hasKey && (
              <a class="button primary" href={tenantPath(c, "keys")}>
                Make a key
              </a>
            )}
          </Step>
          <Step done={steps.keyUsed} number={2} title="Use the key">
            <p class="soft">This checks the key at no cost. The step is done some seconds later.</p>
            {!steps.keyUsed && (
              <Copyable
                block
                label="command that checks the key"
                text={`curl ${api}/embed -H "Authorization: Bearer $CODECTX_API_KEY"`}
              />
            )}
          </Step>
          <Step done={steps.hasIndex} number={3} title="Connect a repository">
            <p class="soft">
              {steps.hasRepository && !steps.hasIndex
                ? "It is connected; its first index run is not done yet."
                : "Its first index run starts at once, and a hook can index every push."}
            </p>
            {!steps.hasIndex && (
              <a class="button primary" href={tenantPath(c, steps.hasRepository ? "repositories" : "repositories/new")}>
                {steps.hasRepository ? "See its state" : "Connect a repository"}
              </a>
            )}
          </Step>
          <Step done={steps.hasSearched} number={4} title="Search">
            <p class="soft">Here, or from an agent that is connected.</p>
            {!steps.hasSearched && steps.hasIndex && (
              <div class="row">
                <a class="button primary" href={tenantPath(c, "search")}>
                  Search now
                </a>
                <a class="button" href={tenantPath(c, "connect")}>
                  Connect an agent
                </a>
              </div>
            )}
          </Step>
        </ol>
      </section>
      {all && <p class="notice">All done. Your agents have the context of your code.</p>}
    </>,
  );
});

function Step({ done, number, title, children }: { done: boolean; number: number; title: string; children?: unknown }) {
  return (
    <li class={done ? "done" : ""}>
      <span class="mark" aria-hidden="true">
        {done ? "✓" : number}
      </span>
      <div>
        <h2>
          {title}
          <span class="sr">{done ? " (done)" : " (to do)"}</span>
        </h2>
        {children}
      </div>
    </li>
  );
}

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
      />
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

/** Base address of the API for clients: this site's proxy. */
function apiAddress(c: DashboardContext): string {
  return siteUrlOf(c.env, c.req.raw) + API_PREFIX;
}
