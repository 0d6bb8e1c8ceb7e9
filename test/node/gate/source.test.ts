import { describe, expect, it } from "vitest";
import { bucketName, sourceOf } from "../../../src/service/gate/source.ts";

describe("source of a request", () => {
  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["::FFFF:cb00:7109", "203.0.113.9"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::9", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
  ])("%s is %s", (address, source) => {
    expect(sourceOf(address)).toBe(source);
  });

  it.each([
    null,
    undefined,
    "",
    "nonsense",
    "1.2.3",
    "1.2.3.256",
    "1:2:3",
    "1::2::3",
    "1:2:3:4:5:6:7:8:9",
    "g::1",
    "1:2:3:4:5:6:7::8:9",
  ])("%s shares the bucket of the unknown", (address) => {
    expect(sourceOf(address)).toBe("unknown");
  });

  it("is named by a hash that needs the salt", async () => {
    const name = await bucketName("salt", "healthz", "203.0.113.9");
    expect(name).toMatch(/^[0-9a-f]{64}$/);
    expect(await bucketName("salt", "healthz", "203.0.113.9")).toBe(name);
    expect(await bucketName("other", "healthz", "203.0.113.9")).not.toBe(name);
    expect(await bucketName("salt", "hook", "203.0.113.9")).not.toBe(name);
  });
});
