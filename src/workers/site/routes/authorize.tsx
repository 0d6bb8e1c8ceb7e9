/**
 * The consent page of the authorization server: a client asks for access, the signed-in user says for which team and repositories, how long
 * and how much. The library keeps the request meanwhile; its handle works once, in the browser that opened the page.
 */
import { createHash } from "node:crypto";
import type { AuthRequest, OAuthHelpers } from "@cloudflare/workers-oauth-provider";
import { Hono } from "hono";
import { MAX_TOKEN_REPOS, Restrictions } from "../../../contract/credentials.ts";
import { listRepositoryNames } from "../../../service/dashboard/repositories.ts";
import { normalizeRepo } from "../../../lib/repo.ts";
import { databaseOf } from "../../../service/db/databases.ts";
import { AUTHORIZE_PATH, SCOPE } from "../../../service/oauth/addresses.ts";
import { isClientAddress } from "../../../service/oauth/client-metadata.ts";
import { oauthObject } from "../../../service/oauth/kv.ts";
import type { AgentProps, GrantMetadata } from "../../../service/oauth/types.ts";
import { createCredential, deriveCredentialKey } from "../../../service/tenancy/credentials.ts";
import { checkRestrictions } from "../../../service/tenancy/restrictions.ts";
import type { Membership } from "../../../service/users/index.ts";
import { type Fields, invalid, readFields } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, sessionOf } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { secureOrigin } from "../app/settings.ts";
import { serverEnv } from "../oauth.ts";
import { gatePage } from "../views/layout.tsx";
import { Field, Select } from "../views/parts.tsx";

export const authorizePages = new Hono<DashboardHono>();

const DAYS = [1, 7, 30, 90];
const DEFAULT_DAYS = "30";
const MAX_CLIENT_NAME = 80;
/** As long as the library keeps a request for consent. */
const CONSENT_MS = 10 * 60_000;

authorizePages.get(AUTHORIZE_PATH, (c) =>
  answering(c, async (oauth, request) => {
    const asked = await oauth.parseAuthRequest(request);
    const client = await describe(oauth, asked);
    const { memberships } = sessionOf(c);
    const team = memberships.find(({ slug }) => slug === c.req.query("team")) ?? memberships[0];
    if (!team) return noTeam(c, client.name);
    const names = await listRepositoryNames(databaseOf(c.env, team.tenantId), team.tenantId);
    // One without an identity has its id for a name, to which no credential can be limited.
    const repos = names.filter((name) => normalizeRepo(name) === name).slice(0, MAX_TOKEN_REPOS);
    const { handle, headers } = await oauth.beginConsent(asked);
    passCookies(c, headers);
    return gatePage(c, { title: "Connect an agent" }, <Consent {...{ c, client, team, repos, handle }} />);
  }),
);

authorizePages.post(AUTHORIZE_PATH, (c) =>
  answering(c, async (oauth, request) => {
    const fields = await readFields(c);
    const handle = fields.text("handle");
    if (fields.text("decision") !== "allow") {
      const { redirectTo, headers } = await oauth.denyConsent(request, handle);
      return leave(c, redirectTo, headers);
    }
    const { user, memberships } = sessionOf(c);
    const team = memberships.find(({ slug }) => slug === fields.text("team"));
    if (!team) throw new DashboardError("FORBIDDEN", "you are not in this team any more");
    const restrictions = readRestrictions(fields);
    const days = DAYS.find((one) => String(one) === fields.text("days"));
    if (days === undefined) throw invalid("days", `expected one of ${DAYS.join(", ")}`);
    // The library reads the request and then deletes it; the mark makes one of two simultaneous answers fail.
    const mark = `answered:${createHash("sha256").update(handle).digest("hex")}`;
    const marks = oauthObject(c.env, mark);
    if (!(await marks.claim(mark, Date.now() + CONSENT_MS)))
      throw new DashboardError("CONFLICT", "this request was answered already: start again from the agent");
    const approved = await oauth.approveConsent(request, handle).catch(async (error: unknown) => {
      // An answer without the page's cookie is none: the right one may still come.
      await marks.delete(mark);
      throw error;
    });
    const client = await describe(oauth, approved.request);
    const { tenantId } = team;
    const { id, secretHash } = createCredential("api_key", tenantId, deriveCredentialKey(c.env.ENCRYPTION_KEY));
    const props: AgentProps = {
      tenantId,
      id,
      secretHash: Buffer.from(secretHash).toString("hex"),
      name: client.name,
      host: client.host,
      restrictions,
      days,
    };
    const { redirectTo } = await oauth.completeAuthorization({
      request: approved.request,
      userId: user.id,
      metadata: { tenantId, credentialId: id } satisfies GrantMetadata,
      scope: [SCOPE],
      props,
      // A client known by an address is the same for every installation: signing in on one must not end the others.
      revokeExistingGrants: !isClientAddress(approved.request.clientId),
    });
    return leave(c, redirectTo, approved.headers);
  }),
);

interface ClientFacts {
  name: string;
  /** Host of the address that is its id, which it controls; undefined for a client that registered itself. */
  domain: string | undefined;
  /** Where the answer goes. */
  host: string;
  isLocal: boolean;
}

async function describe(oauth: OAuthHelpers, request: AuthRequest): Promise<ClientFacts> {
  const { clientName, redirectHost, redirectIsLoopback } = await oauth.describeConsent(request);
  const { clientId } = request;
  return {
    name: clientName.trim().slice(0, MAX_CLIENT_NAME) || "agent",
    domain: isClientAddress(clientId) ? new URL(clientId).hostname : undefined,
    host: redirectHost,
    isLocal: redirectIsLoopback,
  };
}

/** Restrictions that the user chose. Agents may ask questions and nothing else. */
function readRestrictions(fields: Fields): Restrictions {
  const count = (name: string) => {
    const text = fields.text(name).trim();
    return text === "" ? {} : { [name]: Number(text) };
  };
  const repos = fields.lines("repos");
  const chosen = {
    scopes: [SCOPE],
    ...(repos.length > 0 && { repos }),
    ...count("monthlyCredits"),
    ...count("ratePerMinute"),
  };
  const parsed = Restrictions.safeParse(chosen);
  if (parsed.success) return checkRestrictions("api_key", parsed.data);
  const [issue] = parsed.error.issues;
  throw invalid(String(issue?.path[0] ?? "repos"), issue?.message ?? "not valid");
}

/** Runs a step with the library's helpers. What it refuses becomes the client's error, or a page where the client is not known to be one. */
async function answering(
  c: DashboardContext,
  run: (oauth: OAuthHelpers, request: Request) => Promise<Response>,
): Promise<Response> {
  const site = secureOrigin(c.env, c.req.raw);
  if (site === undefined)
    throw new DashboardError("NOT_FOUND", "agents can sign in only where this site is served over https");
  const [{ AuthorizationError }, { authorizationServer }] = await Promise.all([
    import("@cloudflare/workers-oauth-provider"),
    import("../../../service/oauth/server.ts"),
  ]);
  const { pathname, search } = new URL(c.req.url);
  const request = new Request(site + pathname + search, { headers: c.req.raw.headers });
  try {
    return await run(authorizationServer(site).getOAuthApi(serverEnv(c.env)), request);
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error;
    if (error.redirectTo !== undefined) return c.redirect(error.redirectTo, 303);
    throw new DashboardError("INVALID_BODY", lowerFirst(error.description));
  }
}

function passCookies(c: DashboardContext, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) c.header("Set-Cookie", cookie, { append: true });
}

function leave(c: DashboardContext, to: string, headers: Headers): Response {
  passCookies(c, headers);
  return c.redirect(to, 303);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function noTeam(c: DashboardContext, client: string): Response | Promise<Response> {
  return gatePage(
    c,
    { title: "Connect an agent" },
    <div class="panel">
      <h1>Create a team first</h1>
      <p class="soft">{client} asks about the code of a team, and you are in none. Create one, then connect again.</p>
      <a class="button primary" href="/app/new">
        New team
      </a>
    </div>,
  );
}

interface ConsentProps {
  c: DashboardContext;
  client: ClientFacts;
  team: Membership;
  repos: string[];
  handle: string;
}

function Consent({ c, client, team, repos, handle }: ConsentProps) {
  const { user, memberships } = sessionOf(c);
  const others = memberships.filter(({ slug }) => slug !== team.slug);
  const addressOf = (slug: string) => {
    const query = new URL(c.req.url).searchParams;
    query.set("team", slug);
    return `${AUTHORIZE_PATH}?${query.toString()}`;
  };
  return (
    <div class="panel">
      <h1>Connect {client.name}?</h1>
      <p>
        It will be able to search and read the indexed code of <strong>{team.name}</strong> in your name ({user.email}).
      </p>
      <p class="soft small">
        {client.domain === undefined ? (
          "It registered itself; its name is not verified. "
        ) : (
          <>
            Its description is published by <strong>{client.domain}</strong>.{" "}
          </>
        )}
        Access is sent to <strong>{client.host}</strong>.
      </p>
      {client.isLocal && (
        <p class="notice">
          This sends access to a program on your computer. Continue only if you have just started signing in from it.
        </p>
      )}
      {others.length > 0 && (
        <p class="small">
          Another team:{" "}
          {others.map((one) => (
            <>
              <a href={addressOf(one.slug)}>{one.name}</a>{" "}
            </>
          ))}
        </p>
      )}
      <form method="post" action={AUTHORIZE_PATH}>
        <input type="hidden" name="handle" value={handle} />
        <input type="hidden" name="team" value={team.slug} />
        {repos.length > 0 && (
          <fieldset class="field">
            <legend>Repositories</legend>
            <p class="hint">If you tick none: all of the team, later ones too.</p>
            {repos.map((repo) => (
              <label class="check">
                <input type="checkbox" name="repos" value={repo} /> {repo}
              </label>
            ))}
          </fieldset>
        )}
        <Select
          label="For"
          name="days"
          value={DEFAULT_DAYS}
          options={DAYS.map((days) => [String(days), days === 1 ? "1 day" : `${days} days`] as const)}
        />
        <Field
          label="Credits per month"
          name="monthlyCredits"
          type="number"
          min={0}
          hint="Empty: as many as the team has."
        />
        <Field
          label="Requests per minute"
          name="ratePerMinute"
          type="number"
          min={1}
          hint="Empty: as many as the team may send."
        />
        <div class="row">
          <button type="submit" class="primary" name="decision" value="allow">
            Connect
          </button>
          <button type="submit" name="decision" value="deny">
            Cancel
          </button>
        </div>
      </form>
      <p class="soft small">You can end this on the team's page of keys at any time.</p>
    </div>
  );
}
