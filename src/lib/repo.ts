/**
 * Identity of a repository: `host/path`, the same for every form of its address. Paths are case-insensitive on GitHub, GitLab
 * and Bitbucket, and case-sensitive elsewhere.
 */
const MAX_CHARACTERS = 1_000;
const FOLDING_HOSTS = new Set(["github.com", "gitlab.com", "bitbucket.org"]);

/** Aliases of hosts, for the web and for SSH over port 443. */
const ALIASES: Record<string, string> = {
  "www.github.com": "github.com",
  "ssh.github.com": "github.com",
  "www.gitlab.com": "gitlab.com",
  "altssh.gitlab.com": "gitlab.com",
  "www.bitbucket.org": "bitbucket.org",
  "altssh.bitbucket.org": "bitbucket.org",
};

const DEFAULT_PORTS: Record<string, string> = { http: "80", https: "443", ssh: "22", git: "9418" };

/** Escapes of the characters that stay literal in a path segment, besides those that `encodeURIComponent` keeps. */
const KEPT = /%(?:2B|40|3A|2C|3D|24|26|3B)/g;

interface Address {
  scheme: string | undefined;
  host: string;
  port: string | undefined;
  path: string;
}

/**
 * Normalises a repository address: `https://GitHub.com/Owner/Repo.git`, `git@github.com:Owner/Repo`,
 * `ssh://git@github.com/owner/repo/` and `github.com/owner/repo` all give `github.com/owner/repo`. Undefined for anything that is
 * not a repository's address. Idempotent.
 */
export function normalizeRepo(input: string): string | undefined {
  const text = input.trim();
  if (text.length > MAX_CHARACTERS || /[\s\\?#<>"^`{|}]/.test(text)) return undefined;
  const address = parseUrl(text) ?? parseScp(text) ?? parseBare(text);
  if (!address) return undefined;
  const host = normalizeHost(address.host);
  const segments = normalizePath(address.path);
  if (host === undefined || segments === undefined) return undefined;

  const isFolding = FOLDING_HOSTS.has(host);
  if (isFolding) {
    const isComplete = host === "gitlab.com" ? segments.length >= 2 : segments.length === 2;
    if (!isComplete || !segments.every((segment) => /^[\w.~-]+$/.test(segment))) return undefined;
    return `${host}/${segments.join("/").toLowerCase()}`;
  }
  const isDefault = address.port === undefined || address.port === DEFAULT_PORTS[address.scheme ?? ""];
  const authority = isDefault ? host : `${host}:${address.port}`;
  // A single segment could also be `owner/name` without a host.
  if (segments.length < 2 && !isClearlyHost(authority)) return undefined;
  return `${authority}/${segments.join("/")}`;
}

/** `scheme://[user[:password]@]host[:port]/path` */
function parseUrl(text: string): Address | undefined {
  const match = /^(?:git\+)?(https?|ssh|git):\/\/(?:[^/@]*@)?(\[[\da-f:.]+\]|[^/:@[\]]+)(?::(\d{0,5}))?\/(.+)$/i.exec(
    text,
  );
  if (!match) return undefined;
  const [, scheme = "", host = "", port, path = ""] = match;
  return { scheme: scheme.toLowerCase(), host, port: port === "" ? undefined : port, path };
}

/** `[user@]host:path`, the SSH form of `git clone`. Without a user, digits before a slash are a port. */
function parseScp(text: string): Address | undefined {
  const match = /^(?:([^/@:]+)@)?(\[[\da-f:.]+\]|[^/:@[\]]+):(?!\/\/)(.+)$/i.exec(text);
  if (!match) return undefined;
  const [, user, host = "", path = ""] = match;
  if (user === undefined && (/^\d{1,5}\//.test(path) || !host.includes("."))) return undefined;
  return { scheme: "ssh", host, port: undefined, path };
}

/** `host[:port]/path`, the normalised form itself. */
function parseBare(text: string): Address | undefined {
  const match = /^(\[[\da-f:.]+\]|[^/:@[\]]+)(?::(\d{1,5}))?\/(.+)$/i.exec(text);
  if (!match) return undefined;
  const [, host = "", port, path = ""] = match;
  const isNamed = isClearlyHost(port === undefined ? host : `${host}:${port}`);
  return isNamed || path.split("/").filter(Boolean).length >= 2 ? { scheme: undefined, host, port, path } : undefined;
}

function isClearlyHost(authority: string): boolean {
  return /[.:]/.test(authority) || authority.toLowerCase() === "localhost";
}

function normalizeHost(host: string): string | undefined {
  const bare = host.replace(/\.$/, "");
  if (bare === "" || /[%]/.test(bare) || !URL.canParse(`http://${bare}/`)) return undefined;
  const { hostname } = new URL(`http://${bare}/`);
  const isName = /^[a-z\d_](?:[a-z\d._-]*[a-z\d_])?$/.test(hostname) && !hostname.includes("..");
  if (!isName && !hostname.startsWith("[")) return undefined;
  return ALIASES[hostname] ?? hostname;
}

function normalizePath(path: string): string[] | undefined {
  const segments = path.replace(/^\/+|\/+$/g, "").split("/");
  const last = segments.pop() ?? "";
  segments.push(last.replace(/(?:\.git)+$/i, ""));
  const normalized: string[] = [];
  for (const segment of segments) {
    const plain = decode(segment);
    if (plain === undefined || ["", ".", "..", "~"].includes(plain)) return undefined;
    normalized.push(encodeURIComponent(plain).replace(KEPT, decodeURIComponent));
  }
  return normalized;
}

/** Undefined for a broken escape, half a surrogate pair or a control character. */
function decode(segment: string): string | undefined {
  try {
    const plain = decodeURIComponent(segment);
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    return /[\u0000-\u001f\u007f]/.test(plain) || !plain.isWellFormed() ? undefined : plain;
  } catch {
    return undefined;
  }
}
