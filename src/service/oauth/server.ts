/** The authorization server: the library, set up for this service. Imports the library; load it with `await import()`. */
import {
  GrantType,
  OAuthAuthorizationServer,
  OAuthError,
  type TokenExchangeCallbackOptions,
  type TokenExchangeCallbackResult,
} from "@cloudflare/workers-oauth-provider";
import { createLogger } from "../../lib/log.ts";
import { databaseOf } from "../db/databases.ts";
import { isUnreachable } from "../db/errors.ts";
import { connectAgent, isAgentConnected } from "../tenancy/agents.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { AUTHORIZE_PATH, issuerOf, REGISTER_PATH, resourceOf, SCOPE, TOKEN_PATH } from "./addresses.ts";
import type { OAuthKv } from "./kv.ts";
import type { AgentProps } from "./types.ts";

/** What the library gets as its environment. */
export interface ServerEnv {
  OAUTH_KV: OAuthKv;
  DATABASE_URL: string;
}

const ACCESS_TOKEN_SEC = 3_600;
const CLIENT_DAYS = 90;
const DAY_SEC = 86_400;
/** Origins under which one isolate is asked; more than one only where the service runs on this machine. */
const MAX_SERVERS = 8;

const log = createLogger({ component: "oauth" });
const servers = new Map<string, OAuthAuthorizationServer<ServerEnv>>();

/** The authorization server of a site, `https://code.example.com`. */
export function authorizationServer(site: string): OAuthAuthorizationServer<ServerEnv> {
  const known = servers.get(site);
  if (known) return known;
  const server = new OAuthAuthorizationServer<ServerEnv>({
    issuer: issuerOf(site),
    resources: [resourceOf(site)],
    authorizeEndpoint: site + AUTHORIZE_PATH,
    tokenEndpoint: site + TOKEN_PATH,
    clientRegistrationEndpoint: site + REGISTER_PATH,
    scopesSupported: [SCOPE],
    accessTokenTTL: ACCESS_TOKEN_SEC,
    clientRegistrationTTL: CLIENT_DAYS * DAY_SEC,
    tokenExchangeCallback: exchange,
    // The reason is a name of the library's; requests and tokens stay out of the log.
    onError: ({ code, internal }) =>
      log.info("oauth_refused", { code, category: internal?.category, reason: internal?.reason }),
  });
  if (servers.size >= MAX_SERVERS) servers.clear();
  servers.set(site, server);
  return server;
}

/** Makes the agent's credential when its code is exchanged; refuses to refresh tokens of one that is not connected any more. */
async function exchange(
  options: TokenExchangeCallbackOptions<ServerEnv>,
): Promise<TokenExchangeCallbackResult | undefined> {
  const { grantType, userId, clientId, env } = options;
  const { tenantId, id, secretHash, name, host, restrictions, days } = options.props as AgentProps;
  const db = databaseOf(env, tenantId);
  try {
    if (grantType === GrantType.AUTHORIZATION_CODE) {
      const expiresAt = new Date(Date.now() + days * DAY_SEC * 1_000);
      const agent = { clientId, host };
      await connectAgent(db, { id, secretHash, tenantId, userId, name, restrictions, expiresAt, agent });
      return { refreshTokenTTL: days * DAY_SEC };
    }
    if (await isAgentConnected(db, tenantId, id)) return undefined;
  } catch (error) {
    if (isUnreachable(error)) {
      throw new OAuthError("temporarily_unavailable", {
        description: "the service cannot reach its database right now; try again",
        statusCode: 503,
        headers: { "Retry-After": "5" },
      });
    }
    if (!(error instanceof TenancyError)) throw error;
  }
  throw new OAuthError("invalid_grant", { description: "the connection was ended; sign in again" });
}
