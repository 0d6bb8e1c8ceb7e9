/** Sign-in with GitHub, beside the e-mailed code: to GitHub, and back. */
import { createHash, timingSafeEqual } from "node:crypto";
import { getCookie, setCookie } from "hono/cookie";
import { Hono } from "hono";
import {
  beginSignIn,
  type GithubSignIn,
  type PendingSignIn,
  readGithubSignIn,
  signedInEmail,
} from "../../../service/github/sign-in.ts";
import { clientAddress } from "../../../service/gate/proxies.ts";
import { sourceOf } from "../../../service/gate/source.ts";
import { checkEmail, signInByEmail } from "../../../service/users/index.ts";
import { seal, unseal } from "../../../lib/seal.ts";
import { setNotice } from "../app/answers.tsx";
import type { DashboardContext, DashboardHono } from "../app/context.ts";
import { asRefusal, DashboardError } from "../app/errors.ts";
import { openBrowserSession, takeOrRefuse } from "../app/guards.ts";
import { nextPath } from "../app/next-path.ts";
import { settingsOf, siteUrlOf } from "../app/settings.ts";
import { githubDeps } from "./github.tsx";

export const githubSignInPages = new Hono<DashboardHono>();

const PATH = "/app/sign-in/github";
const CALLBACK = `${PATH}/callback`;
const COOKIE = "cc_github";
const PURPOSE = "github-sign-in";
/** How long a person may take at GitHub. */
const PENDING_SECONDS = 600;
/** A longer page to return to would not fit into the cookie. */
const MAX_NEXT = 2_000;

type Pending = PendingSignIn & { next: string; at: number };

/** The operator's OAuth client; undefined if there is none, or if its settings are wrong, which must not lock out those who sign in by mail. */
export function githubSignIn(c: DashboardContext): GithubSignIn | undefined {
  try {
    return readGithubSignIn(c.env);
  } catch (error) {
    c.get("log").error("github_sign_in_not_configured", error);
    return undefined;
  }
}

/** Where the button leads. */
export function githubSignInPath(next: string): string {
  return `${PATH}?next=${encodeURIComponent(next)}`;
}

githubSignInPages.get("/sign-in/github", async (c) => {
  const client = requireClient(c);
  const next = nextPath(c.req.query("next"));
  await limit(c);
  const { location, pending } = beginSignIn(client, redirectUri(c));
  const kept: Pending = { ...pending, next: next.length > MAX_NEXT ? "/app" : next, at: Date.now() };
  keep(c, await seal(c.env.ENCRYPTION_KEY, PURPOSE, JSON.stringify(kept)), PENDING_SECONDS);
  return c.redirect(location, 302);
});

githubSignInPages.get("/sign-in/github/callback", async (c) => {
  const client = requireClient(c);
  const kept = getCookie(c, COOKIE) ?? "";
  keep(c, "", 0);
  await limit(c);
  const pending = await readPending(c, kept);
  try {
    if (!pending || !isSame(c.req.query("state") ?? "", pending.state))
      throw new DashboardError(
        "INVALID_BODY",
        "this sign-in was not begun in this browser, or too long ago; begin again",
      );
    const code = c.req.query("code") ?? "";
    if (!/^[\w-]{1,200}$/.test(code))
      throw new DashboardError(
        "INVALID_BODY",
        "GitHub sent no code, so you are not signed in: allow it there, or sign in by e-mail",
      );
    const given = { code, verifier: pending.verifier, redirectUri: redirectUri(c) };
    const email = checkEmail(await signedInEmail(githubDeps(c), client, given));
    const userAgent = c.req.header("User-Agent") ?? "";
    const signedIn = await signInByEmail(c.get("accounts"), { email, userAgent, signUp: settingsOf(c.env).signUp });
    if (!signedIn)
      throw new DashboardError(
        "FORBIDDEN",
        "the primary address of this GitHub account has no account here and is not invited: ask for an invitation",
      );
    c.get("log").info("signed_in", { method: "github", userId: signedIn.userId });
    openBrowserSession(c, signedIn);
    return c.redirect(pending.next, 303);
  } catch (error) {
    const refusal = asRefusal(error);
    if (!refusal) throw error;
    c.get("log").warn("github_sign_in_refused", { reason: refusal.code });
    setNotice(c, { kind: "error", text: refusal.message });
    return c.redirect(`/app/sign-in?next=${encodeURIComponent(pending?.next ?? "/app")}`, 303);
  }
});

function requireClient(c: DashboardContext): GithubSignIn {
  const client = githubSignIn(c);
  if (!client) throw new DashboardError("NOT_FOUND", "there is no sign-in with GitHub here");
  return client;
}

function redirectUri(c: DashboardContext): string {
  return siteUrlOf(c.env, c.req.raw) + CALLBACK;
}

async function limit(c: DashboardContext): Promise<void> {
  const source = sourceOf(clientAddress(c.req.raw.headers, settingsOf(c.env).proxies));
  await takeOrRefuse(c, { kind: "ip", id: source }, "sign_in_source");
}

function keep(c: DashboardContext, value: string, maxAge: number): void {
  const secure = settingsOf(c.env).hasSecureCookies;
  setCookie(c, COOKIE, value, { path: PATH, httpOnly: true, secure, sameSite: "Lax", maxAge });
}

async function readPending(c: DashboardContext, kept: string): Promise<Pending | undefined> {
  const opened = await unseal(c.env.ENCRYPTION_KEY, PURPOSE, kept).catch(() => undefined);
  const pending = opened === undefined ? undefined : (JSON.parse(opened) as Pending);
  return pending && Date.now() - pending.at <= PENDING_SECONDS * 1_000 ? pending : undefined;
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
