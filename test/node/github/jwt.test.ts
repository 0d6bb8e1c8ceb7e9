import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { appJwt, readPrivateKey } from "../../../src/service/github/jwt.ts";

const NOW_MS = 1_795_000_000_000;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });

describe("the token of an App", () => {
  it.each(["pkcs1", "pkcs8"] as const)("is signed with a key in %s, for less than ten minutes", async (type) => {
    const pem = privateKey.export({ type, format: "pem" }).toString();
    const [header = "", claims = "", signature = ""] = (await appJwt(37, readPrivateKey(pem) ?? "", NOW_MS)).split(".");
    const parse = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as unknown;
    expect(parse(header)).toEqual({ alg: "RS256", typ: "JWT" });
    expect(parse(claims)).toEqual({ iat: NOW_MS / 1_000 - 60, exp: NOW_MS / 1_000 + 480, iss: "37" });
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify("sha256", signed, createPublicKey(privateKey), Buffer.from(signature, "base64url"))).toBe(true);
  });

  it.each([
    "",
    "-----BEGIN RSA PRIVATE KEY-----\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN CERTIFICATE-----\nAA==\n",
  ])("is not made with %j", (text) => {
    expect(readPrivateKey(text)).toBeUndefined();
  });

  it("is refused in linear time for a text that nearly is a key", () => {
    const text = "-----BEGIN PRIVATE KEY-----".repeat(20_000) + "A".repeat(500_000);
    expect(readPrivateKey(text)).toBeUndefined();
  });
});
