import { GitError } from "../errors.ts";

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Suffixes of names that are never public: reserved ones, and those of company networks, routers, clusters and service registries. */
const LOCAL_SUFFIXES = words(`
  localhost local localdomain internal intranet intra private corp home lan workgroup arpa test invalid alt
  onion i2p svc pod cluster default k8s consul nomad mesos docker vpn fritz.box mshome.net ts.net
`);
/** Public names of the address from which clouds hand credentials to their machines. */
const METADATA_NAMES = [
  "metadata.goog",
  "metadata.tencentyun.com",
  "metadata.packet.net",
  "metadata.platformequinix.com",
];
/**
 * Public zones whose names resolve to an address that the name contains, or to this machine. Both may be private. A list cannot be
 * complete: anyone may point a name of their own at a private address, so where the service runs beside private hosts, set `GIT_HOSTS`.
 */
const REBINDING_ZONES = words(`
  nip.io sslip.io xip.io hipio.io backname.io nip.direct ip6.name xip.name plex.direct traefik.me local-ip.co
  local-ip.sh local-ip.dev localip.dev ip.addr.tools localdev.me rbndr.us 1u.ms rebind.it rebind.network
  lock.cmpxchg8b.com d.zhack.ca ceye.io localtest.me lvh.me vcap.me lacolhost.com fuf.me ulh.us smackaho.st
  local.gd localho.st localhost.direct lcl.host lndo.site ddev.site docksal.site 127-0-0-1.org.uk
  docker.amazee.io
`);

const forbidden = (why: string): GitError => new GitError("URL_FORBIDDEN", `repository URL not allowed: ${why}`);

const under = (host: string, zone: string): boolean => host === zone || host.endsWith(`.${zone}`);

/** Which hosts repositories may be pulled from. */
export interface GitHostPolicy {
  /** Also allow `http://127.0.0.1:*` and `http://localhost:*`: for the local stack and tests. */
  allowLocal: boolean;
  /**
   * The only hosts that are allowed, in lower case: `host`, or `*.zone` for the names below a zone, both with an optional `:port`. If
   * undefined, any public name on port 443.
   */
  hosts?: readonly string[] | undefined;
}

const HOST_ENTRY = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?$/;

/** Parses `GIT_HOSTS`: host names separated by commas; empty: any public one. Throws on anything else. */
export function readGitHosts(value: string | undefined): readonly string[] | undefined {
  const hosts = (value ?? "")
    .split(",")
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== "");
  const bad = hosts.find((host) => !HOST_ENTRY.test(host));
  if (bad !== undefined) throw new Error(`GIT_HOSTS: "${bad}" is not a host name, *.zone, or either with a port`);
  return hosts.length > 0 ? hosts : undefined;
}

/**
 * Checks every URL before it is fetched, redirects included: https only, no credentials, no IP literal in any
 * notation (the URL parser normalises decimal, octal and hexadecimal forms to dotted ones), port 443, no name that is local by
 * convention. Hosts listed by an operator may have any name and the listed port.
 * @throws GitError URL_FORBIDDEN, naming what is wrong
 */
export function checkRemoteUrl(url: string, { allowLocal, hosts }: GitHostPolicy): URL {
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
  if (hosts) {
    if (hosts.some((entry) => isListed(entry, host, parsed.port))) return parsed;
    throw forbidden(`"${parsed.host}" is not among the hosts that this service pulls from`);
  }
  if (parsed.port !== "") throw forbidden("only port 443 is allowed");
  if (!host.includes(".") || LOCAL_SUFFIXES.some((suffix) => under(host, suffix))) {
    throw forbidden(`"${host}" is a local name`);
  }
  if ([...METADATA_NAMES, ...REBINDING_ZONES].some((zone) => under(host, zone)) || spellsPrivateAddress(host)) {
    throw forbidden(`"${host}" may stand for a private address`);
  }
  return parsed;
}

/**
 * Checks a repository's address as it was given: like `checkRemoteUrl`, and without a query, to which paths cannot be appended.
 * @throws GitError URL_FORBIDDEN, naming what is wrong
 */
export function checkRepositoryUrl(url: string, policy: GitHostPolicy): URL {
  const parsed = checkRemoteUrl(url, policy);
  if (parsed.search !== "") throw forbidden("it must not have a query (?…)");
  return parsed;
}

/** Whether a name contains a private IPv4 address, with dots or dashes, as in zones that resolve to the address in the name. */
function spellsPrivateAddress(host: string): boolean {
  return Array.from(host.matchAll(/(?<!\d)(\d{1,3})[.-](?=(\d{1,3})[.-]\d{1,3}[.-]\d{1,3}(?!\d))/g)).some((match) => {
    const [first, second] = [Number(match[1]), Number(match[2])];
    if (first === 172) return second >= 16 && second < 32;
    if (first === 100) return second >= 64 && second < 128;
    return [0, 10, 127].includes(first) || `${first}.${second}` === "192.168" || `${first}.${second}` === "169.254";
  });
}

/** Whether an entry of the list names this host. `port` is empty for 443. */
function isListed(entry: string, host: string, port: string): boolean {
  const [name = "", entryPort = ""] = entry.split(":");
  if ((entryPort === "443" ? "" : entryPort) !== port) return false;
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
}

/** Basic-auth user name for a bare token on well-known hosts; most other hosts accept any name. */
export function defaultUsername(host: string): string {
  if (host.includes("gitlab")) return "oauth2";
  if (host.includes("bitbucket")) return "x-token-auth";
  return "x-access-token";
}
