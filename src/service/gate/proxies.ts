/** The client's address behind reverse proxies. */
import { parseIp } from "./source.ts";

/** Proxies that are trusted to report their client's address and scheme. */
export interface TrustedProxies {
  includes(address: string): boolean;
}

export const NO_PROXIES: TrustedProxies = { includes: () => false };

const MAX_ENTRIES = 100;
/** Proxies in a row that are looked at. */
const MAX_HOPS = 20;
const IPV6_BITS = 128;
/** Prefix of IPv4 addresses that are mapped to IPv6. */
const MAPPED_BITS = 96;

/**
 * Parses `TRUSTED_PROXIES`: addresses and CIDR ranges separated by commas; empty: none. Throws `Error` that names the variable and the
 * entry.
 */
export function readTrustedProxies(value: string | undefined): TrustedProxies {
  const entries = (value ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  if (entries.length > MAX_ENTRIES) throw new Error(`TRUSTED_PROXIES: expected at most ${MAX_ENTRIES} entries`);
  const ranges = entries.map((entry) => {
    const [address = "", bits, ...rest] = entry.split("/");
    const start = parseIp(address);
    const most = address.includes(":") ? IPV6_BITS : IPV6_BITS - MAPPED_BITS;
    const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Infinity;
    if (start === undefined || length > most || rest.length > 0) {
      throw new Error(`TRUSTED_PROXIES: "${entry}" is not an address, or a range such as 10.0.0.0/8`);
    }
    const shift = BigInt(most - length);
    return { prefix: start >> shift, shift };
  });
  return {
    includes: (address) => {
      const ip = parseIp(address);
      return ip !== undefined && ranges.some(({ prefix, shift }) => ip >> shift === prefix);
    },
  };
}

interface HeaderReader {
  get(name: string): string | null;
}

/** Set by the platform, and by the local stack's front, on every request; replaces what the client sent. */
export const CLIENT_ADDRESS = "cf-connecting-ip";

/**
 * The client's address: the peer's, or, if the peer is a trusted proxy, the last one in `X-Forwarded-For` that is not a trusted proxy.
 * What stands before it was sent by the client.
 */
export function clientAddress(headers: HeaderReader, proxies: TrustedProxies): string | null {
  let address = headers.get(CLIENT_ADDRESS);
  const hops = (headers.get("x-forwarded-for") ?? "").split(",").slice(-MAX_HOPS);
  while (address !== null && proxies.includes(address)) {
    const hop = hops.pop()?.trim();
    if (!hop) break;
    address = withoutPort(hop);
  }
  return address;
}

/** The scheme of the client's request, such as `https:`: that of the request, or the one that a trusted proxy reports. */
export function clientScheme(request: { url: string; headers: HeaderReader }, proxies: TrustedProxies): string {
  const reported = (request.headers.get("x-forwarded-proto") ?? "").split(",").at(-1)?.trim().toLowerCase();
  const isKnown = reported === "https" || reported === "http";
  const isTrusted = proxies.includes(request.headers.get(CLIENT_ADDRESS) ?? "");
  return isKnown && isTrusted ? `${reported}:` : new URL(request.url).protocol;
}

/** Some proxies append the port: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
function withoutPort(hop: string): string {
  return hop.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1").replace(/^\[([^\]]*)\](?::\d+)?$/, "$1");
}
