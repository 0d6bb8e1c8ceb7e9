/** Rate-limit subjects of requests without a credential. */

/** Subject of requests from an unknown address. */
const UNKNOWN = "unknown";
/** Limits apply per /64: one IPv6 customer has at least that many addresses. */
const IPV6_PREFIX_GROUPS = 4;

/**
 * The rate-limit subject of a client address: the address itself for IPv4 (also when mapped to IPv6), the /64 for IPv6.
 * Everything that is not an address shares one subject.
 */
export function sourceOf(address: string | null | undefined): string {
  if (!address) return UNKNOWN;
  const text = address.trim().toLowerCase().replace(/%.*$/, "");
  if (parseIpv4(text)) return text;
  const groups = parseIpv6(text);
  if (!groups) return UNKNOWN;
  const [, , , , , marker, high = 0, low = 0] = groups;
  if (marker === 0xffff && groups.slice(0, 5).every((group) => group === 0)) {
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  }
  const prefix = groups.slice(0, IPV6_PREFIX_GROUPS).map((group) => group.toString(16));
  return `${prefix.join(":")}::/64`;
}

/** Name of a bucket's Durable Object: a salted hash, so that the name does not reveal an address. */
export async function bucketName(salt: string, surface: string, subject: string): Promise<string> {
  const bytes = new TextEncoder().encode(`${salt}\n${surface}\n${subject}`);
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
}

/** An address as a number, IPv4 as its mapping to IPv6; undefined for anything else. */
export function parseIp(address: string): bigint | undefined {
  const text = address.trim().toLowerCase();
  const groups = parseIpv6(parseIpv4(text) ? `::ffff:${text}` : text);
  return groups?.reduce((number, group) => (number << 16n) | BigInt(group), 0n);
}

function parseIpv4(text: string): number[] | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  return parts?.every((part) => part < 256) ? parts : undefined;
}

/** The eight groups of an IPv6 address. */
function parseIpv6(text: string): number[] | undefined {
  const embedded = /^(.*:)([\d.]+)$/.exec(text);
  const ipv4 = embedded?.[2]?.includes(".") ? parseIpv4(embedded[2]) : undefined;
  const [a = 0, b = 0, c = 0, d = 0] = ipv4 ?? [];
  const whole = ipv4 ? `${embedded?.[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}` : text;
  const halves = whole.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  if (![...head, ...tail].every((group) => /^[0-9a-f]{1,4}$/.test(group))) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  return [...head, ...Array.from({ length: missing }, () => "0"), ...tail].map((group) => Number.parseInt(group, 16));
}
