/** An agent as its user sees it: the official MCP client, and a browser that answers the consent page. */
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Profile } from "./dashboard.ts";
import { service } from "./service.ts";

export const REDIRECT = "http://127.0.0.1:39999/callback";

/** What a client keeps between steps, in memory. */
export class AgentAuth implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    client_name: "Test agent <b>",
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
  clientMetadataUrl?: string;
  asked: URL | undefined;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = "";

  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client: StoredOAuthClientInformation) {
    this.#client = client;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.#tokens = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  state() {
    return "the-state";
  }
}

export const mcpUrl = () => new URL(`${service().siteUrl}/mcp`);

/** The consent page of an authorization address, with the values of its hidden fields. */
export async function openConsent(browser: Profile, url: URL): Promise<{ page: string; form: Record<string, string> }> {
  const page = await browser.page(url.pathname + url.search);
  const fields = page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g);
  return { page, form: Object.fromEntries(Array.from(fields, ([, name = "", value = ""]) => [name, value])) };
}

/** Sends the consent form; the address that the browser is sent to. */
export async function consent(browser: Profile, url: URL, choice: Record<string, string> = {}): Promise<URL> {
  const { form } = await openConsent(browser, url);
  const sent = await browser.send("/oauth/authorize", { form: { ...form, decision: "allow", days: "30", ...choice } });
  if (sent.status !== 303) throw new Error(`the consent page answered ${sent.status}: ${await sent.text()}`);
  return new URL(sent.headers.get("Location") ?? "");
}

/** Signs an agent in as the person of `browser`. */
export async function connect(
  browser: Profile,
  choice: Record<string, string> = {},
  auth = new AgentAuth(),
): Promise<{ client: Client; auth: AgentAuth; transport: StreamableHTTPClientTransport }> {
  const first = new StreamableHTTPClientTransport(mcpUrl(), { authProvider: auth });
  await new Client({ name: "test", version: "1" }).connect(first).then(
    () => Promise.reject(new Error("let in without signing in")),
    () => undefined,
  );
  if (!auth.asked) throw new Error("the client did not ask for authorization");
  const back = await consent(browser, auth.asked, choice);
  await first.finishAuth(back.searchParams);
  const transport = new StreamableHTTPClientTransport(mcpUrl(), { authProvider: auth });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return { client, auth, transport };
}

/** A request to the token endpoint. */
export function token(form: Record<string, string>): Promise<Response> {
  return fetch(`${service().siteUrl}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
}

/** Asks `/mcp` with an access token; the status of the answer. */
export async function askWith(
  accessToken: string | undefined,
  name = "list_repos",
): Promise<{ status: number; text: string }> {
  const response = await fetch(mcpUrl(), {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...(accessToken !== undefined && { Authorization: `Bearer ${accessToken}` }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } }),
  });
  return { status: response.status, text: await response.text() };
}

/** The access and refresh token, and the client's id, of an agent. */
export function tokensOf(auth: AgentAuth): { access: string; refresh: string; clientId: string } {
  const { access_token: access = "", refresh_token: refresh = "" } = auth.tokens() ?? {};
  return { access, refresh, clientId: auth.clientInformation()?.client_id ?? "" };
}

export async function agentOf(browser: Profile, choice: Record<string, string> = {}) {
  const { client, auth } = await connect(browser, choice);
  await client.close();
  return { auth, ...tokensOf(auth) };
}

export const refreshed = ({ refresh, clientId }: { refresh: string; clientId: string }) =>
  token({ grant_type: "refresh_token", refresh_token: refresh, client_id: clientId });

/** The keys page's data. */
export async function keysOf(browser: Profile) {
  const answer = await browser.send(`/app/api/tenants/${await slugOf(browser)}/keys`, {
    headers: { Accept: "application/json" },
  });
  const { keys } = (await answer.json()) as {
    keys: {
      id: string;
      name: string;
      agent: object | null;
      owner: string | null;
      revokedAt: string | null;
      restrictions: object;
    }[];
  };
  return keys;
}

export async function slugOf(browser: Profile): Promise<string> {
  return /\/app\/([\w-]+)/.exec((await browser.send("/app")).headers.get("Location") ?? "")?.[1] ?? "";
}

/** The agent's row on the keys page. */
export async function rowOf(browser: Profile) {
  const row = (await keysOf(browser)).find(({ agent, revokedAt }) => agent !== null && revokedAt === null);
  if (!row) throw new Error("no agent is connected");
  return row;
}

/** Registers a client by hand; the address of its authorization. */
export async function registered(): Promise<{ clientId: string; address: URL; verifier: string }> {
  const made = await fetch(`${service().siteUrl}/oauth/register`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(new AgentAuth().clientMetadata),
  });
  if (made.status !== 201) throw new Error(`registration answered ${made.status}`);
  const { client_id: clientId } = (await made.json()) as { client_id: string };
  return { clientId, ...(await authorization(clientId)) };
}

export async function authorization(clientId: string): Promise<{ address: URL; verifier: string }> {
  const verifier = crypto.randomUUID() + crypto.randomUUID();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const address = new URL(`${service().siteUrl}/oauth/authorize`);
  address.search = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: Buffer.from(digest).toString("base64url"),
    code_challenge_method: "S256",
    state: "s",
    resource: mcpUrl().href,
  }).toString();
  return { address, verifier };
}

export const exchange = (code: string, { clientId, verifier }: { clientId: string; verifier: string }) =>
  token({
    grant_type: "authorization_code",
    code,
    redirect_uri: REDIRECT,
    client_id: clientId,
    code_verifier: verifier,
  });
