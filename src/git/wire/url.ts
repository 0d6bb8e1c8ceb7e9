import { GitError } from "../errors.ts";

/** Suffixes under which names are never public. */
const LOCAL_SUFFIXES = [
  "localhost",
  "local",
  "localdomain",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "arpa",
  "test",
  "invalid",
  "onion",
];
/** Public zones whose names resolve to whatever private address is written in them. */
const REBINDING_ZONES = ["nip.io", "sslip.io", "xip.io", "localtest.me", "lvh.me", "vcap.me", "lacolhost.com"];

const forbidden = (why: string): GitError => new GitError("URL_FORBIDDEN", `repository URL not allowed: ${why}`);

const under = (host: string, zone: string): boolean => host === zone || host.endsWith(`.${zone}`);

/**
 * The one gate for every URL that is fetched, first request and redirects alike.
 * https only, no credentials, no IP literal in any notation (the URL parser normalises decimal, octal and hexadecimal
 * forms to dotted ones), no name that is local by convention. `http://127.0.0.1` and `http://localhost`, any port, only
 * with `allowLocal`.
 * @throws GitError URL_FORBIDDEN, naming what is wrong
 */
export function checkRemoteUrl(url: string, allowLocal: boolean): URL {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw forbidden("not a valid absolute URL (expected https://host/path)");
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw forbidden("credentials belong in source.auth, not in the URL");
  }
  if (parsed.hash !== "") throw forbidden("it must not have a fragment (#…)");
  const host = parsed.hostname.replace(/\.+$/, "").toLowerCase();
  if (allowLocal && parsed.protocol === "http:" && (host === "127.0.0.1" || host === "localhost")) return parsed;
  if (parsed.protocol !== "https:") throw forbidden(`scheme "${parsed.protocol.replace(":", "")}" is not https`);
  if (host === "") throw forbidden("it has no host");
  if (host.startsWith("[") || /^[\d.]+$/.test(host) || /(^|\.)0x[\da-f]*$/.test(host)) {
    throw forbidden("IP addresses are not allowed, use a public host name");
  }
  if (!host.includes(".") || LOCAL_SUFFIXES.some((suffix) => under(host, suffix))) {
    throw forbidden(`"${host}" is a local name`);
  }
  if (REBINDING_ZONES.some((zone) => under(host, zone))) throw forbidden(`"${host}" stands for a private address`);
  return parsed;
}

/** Basic-auth user name that goes with a bare token on the well-known hosts; any name does on most others. */
export function defaultUsername(host: string): string {
  if (host.includes("gitlab")) return "oauth2";
  if (host.includes("bitbucket")) return "x-token-auth";
  return "x-access-token";
}
