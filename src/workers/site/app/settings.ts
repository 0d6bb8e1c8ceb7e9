/** Settings of the site Worker, read from its variables once per isolate. */
import { readPublicUrl } from "../../../lib/config.ts";
import { clientScheme, readTrustedProxies, type TrustedProxies } from "../../../service/gate/proxies.ts";
import { readSignUp, type SignUp } from "../../../service/users/sign-up.ts";

export type SettingsEnv = Pick<SiteEnv, "SITE_URL" | "TRUSTED_PROXIES" | "SIGN_UP">;

interface SiteSettings {
  /** Public address of the site; undefined if it is that of the request, which only a platform that routes by host may leave open. */
  siteUrl: string | undefined;
  proxies: TrustedProxies;
  signUp: SignUp;
  /** Whether cookies are `Secure`: always, except where the site has a plain-HTTP address to which browsers would not send them. */
  hasSecureCookies: boolean;
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

let read: { env: SettingsEnv; settings: SiteSettings } | undefined;

/** Throws `Error` that names the variable if one is invalid. */
export function settingsOf(env: SettingsEnv): SiteSettings {
  if (read?.env === env) return read.settings;
  const siteUrl = readPublicUrl("SITE_URL", env.SITE_URL);
  const settings = {
    siteUrl,
    proxies: readTrustedProxies(env.TRUSTED_PROXIES),
    signUp: readSignUp(env.SIGN_UP),
    hasSecureCookies: siteUrl === undefined || siteUrl.startsWith("https:") || isLoopback(siteUrl),
  };
  read = { env, settings };
  return settings;
}

/** Public address of the site, with which links begin. Never taken from the request where the setting names one. */
export function siteUrlOf(env: SettingsEnv, request: Request): string {
  const settings = settingsOf(env);
  return settings.siteUrl ?? requestOrigin(request, settings);
}

/**
 * Whether an origin is the dashboard's own. A service on this machine is also used under other names of it, and through forwarded ports, so
 * there the origin of the request counts too.
 */
export function isOwnOrigin(env: SettingsEnv, request: Request, origin: string): boolean {
  const settings = settingsOf(env);
  const { siteUrl } = settings;
  if (siteUrl !== undefined && origin === siteUrl) return true;
  return (siteUrl === undefined || isLoopback(siteUrl)) && origin === requestOrigin(request, settings);
}

/**
 * The origin that a request was sent to, as this site calls itself there: what `isOwnOrigin` allows, else the public address. Undefined if
 * it is neither https nor on this machine, so that what is sent there can be read on the way.
 */
export function secureOrigin(env: SettingsEnv, request: Request): string | undefined {
  const asked = requestOrigin(request, settingsOf(env));
  const origin = isOwnOrigin(env, request, asked) ? asked : siteUrlOf(env, request);
  return origin.startsWith("https:") || isLoopback(origin) ? origin : undefined;
}

function requestOrigin(request: Request, { proxies }: SiteSettings): string {
  return `${clientScheme(request, proxies)}//${new URL(request.url).host}`;
}

function isLoopback(url: string): boolean {
  return LOOPBACK.has(new URL(url).hostname);
}
