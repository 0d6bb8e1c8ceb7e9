import { expect, it } from "vitest";
import { clientAddress, clientScheme, readTrustedProxies } from "../../../src/service/gate/proxies.ts";

const headersOf = (peer: string, forwardedFor?: string, proto?: string) =>
  new Headers({
    "CF-Connecting-IP": peer,
    ...(forwardedFor !== undefined && { "X-Forwarded-For": forwardedFor }),
    ...(proto !== undefined && { "X-Forwarded-Proto": proto }),
  });

it.each([
  // Nobody is trusted by default.
  ["", "203.0.113.9", "198.51.100.1", "203.0.113.9"],
  ["127.0.0.1", "203.0.113.9", "198.51.100.1", "203.0.113.9"],
  ["127.0.0.1", "127.0.0.1", "198.51.100.1", "198.51.100.1"],
  // What the client sent itself stands before what the proxy has appended.
  ["127.0.0.1", "127.0.0.1", "1.2.3.4, 198.51.100.1", "198.51.100.1"],
  ["127.0.0.1,10.0.0.0/8", "127.0.0.1", "1.2.3.4, 198.51.100.1, 10.1.2.3", "198.51.100.1"],
  ["10.0.0.0/8", "11.0.0.1", "198.51.100.1", "11.0.0.1"],
  ["10.0.0.0/31", "10.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["10.0.0.0/31", "10.0.0.2", "198.51.100.1", "10.0.0.2"],
  ["2001:db8::/32", "2001:db8:ffff::1", "2001:db9::7", "2001:db9::7"],
  ["127.0.0.1", "::ffff:127.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["127.0.0.1", "127.0.0.1", "198.51.100.1:4711", "198.51.100.1"],
  ["127.0.0.1", "127.0.0.1", "[2001:db8::5]:4711", "2001:db8::5"],
  ["127.0.0.1", "127.0.0.1", undefined, "127.0.0.1"],
  ["127.0.0.1", "127.0.0.1", "", "127.0.0.1"],
  ["0.0.0.0/0", "127.0.0.1", Array.from({ length: 10_000 }, () => "10.0.0.1").join(","), "10.0.0.1"],
])("with %s trusted, %s forwarding %s is %s", (trusted, peer, forwardedFor, client) => {
  expect(clientAddress(headersOf(peer, forwardedFor), readTrustedProxies(trusted))).toBe(client);
});

it("takes the scheme from trusted proxies only", () => {
  const scheme = (peer: string, proto: string) => {
    const request = { url: "http://code.example.com/", headers: headersOf(peer, undefined, proto) };
    return clientScheme(request, readTrustedProxies("127.0.0.1"));
  };
  expect(scheme("127.0.0.1", "https")).toBe("https:");
  expect(scheme("127.0.0.1", "http, https")).toBe("https:");
  expect(scheme("127.0.0.1", "javascript")).toBe("http:");
  expect(scheme("203.0.113.9", "https")).toBe("http:");
});

it("names an entry that is no address", () => {
  for (const entry of ["localhost", "10.0.0.0/33", "::/129", "10.0.0.0/8/8", "1.2.3", "10.0.0.1/", "10.0.0.1/-1"]) {
    expect(() => readTrustedProxies(`127.0.0.1, ${entry}`)).toThrow(`TRUSTED_PROXIES: "${entry}"`);
  }
});
