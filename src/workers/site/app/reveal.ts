/**
 * Secrets that are shown once, on the page to which the form that made them redirects. So a reload or Back repeats no change. The
 * secret waits in a sealed cookie of that page: the service stores none.
 */
import { getCookie, setCookie } from "hono/cookie";
import { seal, unseal } from "../../../lib/seal.ts";
import { type DashboardContext, sessionOf } from "./context.ts";
import { settingsOf } from "./settings.ts";

const REVEAL_COOKIE = "cc_reveal";
const REVEAL_SECONDS = 120;

/** Leaves texts for the next request of the page `path` of a team, by default the path's, by the same person. */
export async function leaveSecret(
  c: DashboardContext,
  path: string,
  secret: Record<string, string>,
  tenantId = c.get("membership").tenantId,
): Promise<void> {
  const sealed = await seal(c.env.ENCRYPTION_KEY, purposeOf(c, tenantId), JSON.stringify(secret));
  writeCookie(c, path, sealed, REVEAL_SECONDS);
}

/** Takes what `leaveSecret` left for the page `path`; undefined if nothing is left, or it was left for another person or team. */
export async function takeSecret(c: DashboardContext, path: string): Promise<Record<string, string> | undefined> {
  const sealed = getCookie(c, REVEAL_COOKIE);
  if (!sealed) return undefined;
  writeCookie(c, path, "", 0);
  const plain = await unseal(c.env.ENCRYPTION_KEY, purposeOf(c, c.get("membership").tenantId), sealed).catch(
    () => undefined,
  );
  return plain === undefined ? undefined : (JSON.parse(plain) as Record<string, string>);
}

function purposeOf(c: DashboardContext, tenantId: string): string {
  return `reveal:${tenantId}:${sessionOf(c).user.id}`;
}

function writeCookie(c: DashboardContext, path: string, value: string, maxAge: number): void {
  const secure = settingsOf(c.env).hasSecureCookies;
  setCookie(c, REVEAL_COOKIE, value, { path, httpOnly: true, secure, sameSite: "Lax", maxAge });
}
