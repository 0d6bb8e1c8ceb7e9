/**
 * Sign-in with GitHub: OAuth's web flow with a state and PKCE (RFC 7636). What counts is the primary address of the account, and only if GitHub
 * has verified it; the access token is used for that question and dropped.
 */
import { createHash, randomBytes } from "node:crypto";
import * as z from "zod";
import { readPublicUrl } from "../../lib/config.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { callGithub, fetchJson, GITHUB_ORIGIN, GithubError, type GithubDeps } from "./client.ts";

/** The only permission that is asked for: the account's addresses. */
const SCOPE = "user:email";
/** Addresses of an account that are looked at. */
const MAX_ADDRESSES = 100;

/** The OAuth client of the service, an OAuth App or a GitHub App. */
export interface GithubSignIn {
  origin: string;
  clientId: string;
  clientSecret: string;
}

interface SignInEnv {
  GITHUB_URL?: string;
  GITHUB_CLIENT_ID?: string;
  GITHUB_CLIENT_SECRET?: string;
}

/** Reads the settings; undefined if the operator has set none. Throws `Error` that names the variable. */
export function readGithubSignIn(env: SignInEnv): GithubSignIn | undefined {
  const origin = readPublicUrl("GITHUB_URL", env.GITHUB_URL) ?? GITHUB_ORIGIN;
  const [clientId, clientSecret] = [(env.GITHUB_CLIENT_ID ?? "").trim(), (env.GITHUB_CLIENT_SECRET ?? "").trim()];
  if (clientId === "" && clientSecret === "") return undefined;
  if (!/^[\w.-]{1,100}$/.test(clientId))
    throw new Error("GITHUB_CLIENT_ID: expected the id of an OAuth client at GitHub");
  if (clientSecret === "") throw new Error("GITHUB_CLIENT_SECRET is not set: GITHUB_CLIENT_ID needs it");
  return { origin, clientId, clientSecret };
}

/** What the browser keeps until it comes back. */
export interface PendingSignIn {
  state: string;
  verifier: string;
}

/** Begins a sign-in: where the browser goes, and what it has to bring back. */
export function beginSignIn(
  { origin, clientId }: GithubSignIn,
  redirectUri: string,
): { location: string; pending: PendingSignIn } {
  const pending = { state: random(), verifier: random() };
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: SCOPE,
    state: pending.state,
    code_challenge: createHash("sha256").update(pending.verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  return { location: `${origin}/login/oauth/authorize?${query.toString()}`, pending };
}

const random = () => randomBytes(32).toString("base64url");

const TokenAnswer = z.object({ access_token: z.string().min(1).max(1_000) });
const Addresses = z
  .array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))
  .max(MAX_ADDRESSES);

/**
 * The verified primary address of the account that a code stands for. Throws `TenancyError` for a code that GitHub does not accept and for an
 * account without such an address, and `GithubError` if GitHub does not answer.
 */
export async function signedInEmail(
  deps: GithubDeps,
  { origin, clientId, clientSecret }: GithubSignIn,
  { code, verifier, redirectUri }: { code: string; verifier: string; redirectUri: string },
): Promise<string> {
  const sent = {
    client_id: clientId,
    client_secret: clientSecret,
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
  };
  const answer = await fetchJson(deps, origin, `${origin}/login/oauth/access_token`, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/json" },
    body: JSON.stringify(sent),
  });
  const { data: token } = TokenAnswer.safeParse(answer);
  if (!token) throw new TenancyError("INVALID", "GitHub does not accept this sign-in any more; begin again");
  const listed = await callGithub(deps, {
    origin,
    method: "GET",
    path: `/user/emails?per_page=${MAX_ADDRESSES}`,
    token: token.access_token,
  }).catch((error: unknown): never => {
    if (!(error instanceof GithubError) || (error.status !== 403 && error.status !== 404)) throw error;
    throw new TenancyError(
      "FORBIDDEN",
      "GitHub does not let this service see the account's addresses; its operator must allow that",
    );
  });
  const { data: addresses } = Addresses.safeParse(listed);
  const own = addresses?.find(({ primary, verified }) => primary && verified);
  if (!own)
    throw new TenancyError(
      "FORBIDDEN",
      "the primary e-mail address of this GitHub account is not verified: verify it at GitHub first",
    );
  return own.email;
}
