import { env } from "cloudflare:workers";
import { and, eq, isNotNull, isNull } from "drizzle-orm";
import { afterEach, describe, expect, it } from "vitest";
import { credentials } from "../../../src/service/db/credentials-schema.ts";
import { resourceOf, SCOPE, TOKEN_PATH } from "../../../src/service/oauth/addresses.ts";
import { OAuthKv, oauthObject, personObject } from "../../../src/service/oauth/kv.ts";
import { authorizationServer } from "../../../src/service/oauth/server.ts";
import type { AgentProps, GrantMetadata, OAuthEnv } from "../../../src/service/oauth/types.ts";
import { connectAgent, MAX_AGENTS } from "../../../src/service/tenancy/agents.ts";
import { createCredential } from "../../../src/service/tenancy/credentials.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { credentialKey, db } from "../support/tenants.ts";
import { team } from "../users/people.ts";

const SITE = "https://code.example.com";
const REDIRECT = "http://127.0.0.1:39999/callback";
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const { OAUTH, DATABASE_URL } = env as unknown as { OAUTH: DurableObjectNamespace; DATABASE_URL: string };
const bindings: OAuthEnv = { OAUTH, DATABASE_URL, GIT_ALLOW_LOCAL: "false", GIT_HOSTS: "" };

interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
}

const serverEnv = () => ({ OAUTH_KV: new OAuthKv(bindings), DATABASE_URL });
const ask = (userId: string, form: Record<string, string>): Promise<Response> =>
  oauthObject(bindings, personObject(userId)).fetch(
    new Request(SITE + TOKEN_PATH, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: new TextEncoder().encode(new URLSearchParams(form).toString()),
    }),
  );
const isValid = async (token: string): Promise<boolean> =>
  (await authorizationServer(SITE).validateToken(resourceOf(SITE), token, serverEnv())) !== null;
const liveAgents = (userId: string) =>
  db
    .select({ id: credentials.id })
    .from(credentials)
    .where(and(eq(credentials.userId, userId), isNotNull(credentials.agent), isNull(credentials.revokedAt)));

function newAgent(tenantId: string, days = 30): AgentProps {
  const { id, secretHash } = createCredential("api_key", tenantId, credentialKey);
  const hash = Buffer.from(secretHash).toString("hex");
  return { tenantId, id, secretHash: hash, name: "agent", host: "127.0.0.1", restrictions: { scopes: [SCOPE] }, days };
}

/** A client that a member has let in for some days, with its first tokens. */
async function signIn(days = 30) {
  const { tenantId, people } = await team("member");
  const { userId } = people.member;
  const oauth = authorizationServer(SITE).getOAuthApi(serverEnv());
  const client = await oauth.createClient({ redirectUris: [REDIRECT], tokenEndpointAuthMethod: "none" });
  const verifier = crypto.randomUUID() + crypto.randomUUID();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const address = new URL(`${SITE}/oauth/authorize`);
  address.search = new URLSearchParams({
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: REDIRECT,
    code_challenge: Buffer.from(digest).toString("base64url"),
    code_challenge_method: "S256",
    resource: resourceOf(SITE),
    state: "s",
  }).toString();
  const props = newAgent(tenantId, days);
  const { redirectTo } = await oauth.completeAuthorization({
    request: await oauth.parseAuthRequest(new Request(address)),
    userId,
    metadata: { tenantId, credentialId: props.id } satisfies GrantMetadata,
    scope: [SCOPE],
    props,
  });
  const answer = await ask(userId, {
    grant_type: "authorization_code",
    code: new URL(redirectTo).searchParams.get("code") ?? "",
    redirect_uri: REDIRECT,
    client_id: client.clientId,
    code_verifier: verifier,
  });
  expect(answer.status).toBe(200);
  const refresh = (token: string) =>
    ask(userId, { grant_type: "refresh_token", refresh_token: token, client_id: client.clientId });
  return { userId, tenantId, tokens: await answer.json<Tokens>(), refresh };
}

afterEach(startClock);

describe("an access token", () => {
  it("expires after an hour, and its refresh token gets another", async () => {
    const start = Date.now();
    stopClock(start);
    const { tokens, refresh } = await signIn();
    expect(tokens.expires_in).toBe(3_600);
    stopClock(start + 59 * MINUTE_MS);
    expect(await isValid(tokens.access_token)).toBe(true);
    stopClock(start + 61 * MINUTE_MS);
    expect(await isValid(tokens.access_token)).toBe(false);
    const next = await (await refresh(tokens.refresh_token)).json<Tokens>();
    expect(await isValid(next.access_token)).toBe(true);
  });
});

describe("a refresh token", () => {
  it("is refused when it is sent twice at once, and the connection stays", async () => {
    const start = Date.now();
    stopClock(start);
    const { tokens, refresh } = await signIn();
    const next = await (await refresh(tokens.refresh_token)).json<Tokens>();
    stopClock(start + MINUTE_MS / 2);
    expect((await refresh(tokens.refresh_token)).status).toBe(400);
    expect(await isValid(next.access_token)).toBe(true);
    expect((await refresh(next.refresh_token)).status).toBe(200);
  });

  it("ends the connection when it comes again later, since somebody has copied it", async () => {
    const start = Date.now();
    stopClock(start);
    const { userId, tokens, refresh } = await signIn();
    const next = await (await refresh(tokens.refresh_token)).json<Tokens>();
    stopClock(start + 2 * MINUTE_MS);
    expect(await isValid(next.access_token)).toBe(true);
    expect((await refresh(tokens.refresh_token)).status).toBe(400);
    expect(await isValid(next.access_token)).toBe(false);
    expect((await refresh(next.refresh_token)).status).toBe(400);
    expect(await liveAgents(userId)).toEqual([]);
  });

  it("ends with the days that the person chose, however often it was renewed", async () => {
    const start = Date.now();
    stopClock(start);
    const { tokens, refresh } = await signIn(1);
    stopClock(start + DAY_MS - 30 * MINUTE_MS);
    const next = await (await refresh(tokens.refresh_token)).json<Tokens>();
    expect(next.expires_in).toBeLessThanOrEqual(30 * 60);
    stopClock(start + DAY_MS + MINUTE_MS);
    expect(await isValid(next.access_token)).toBe(false);
    expect((await refresh(next.refresh_token)).status).toBe(400);
  });
});

describe("the agents of a person", () => {
  it("are bounded: the oldest one ends", async () => {
    const { tenantId, people } = await team("member");
    const { userId } = people.member;
    const made: string[] = [];
    for (let n = 0; n < MAX_AGENTS + 2; n++) {
      const { days, host, ...agent } = newAgent(tenantId);
      made.push(agent.id);
      const expiresAt = new Date(Date.now() + days * DAY_MS);
      // Installations of one client share its address, so none replaces another.
      await connectAgent(db, { ...agent, userId, expiresAt, agent: { clientId: "https://client.example/id", host } });
    }
    const live = (await liveAgents(userId)).map(({ id }) => id);
    expect(live.toSorted()).toEqual(made.slice(2).toSorted());
  });
});
