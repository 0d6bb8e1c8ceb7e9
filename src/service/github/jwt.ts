/** JSON Web Tokens by which a GitHub App shows who it is: RS256 (RFC 7518, 3.3), made with WebCrypto. */

/** GitHub's clock may be behind; its documentation suggests a minute. */
const BACKDATED_SEC = 60;
/** GitHub allows ten minutes from `iat`. */
const VALID_SEC = 8 * 60;
/** `INTEGER 0, SEQUENCE { OID rsaEncryption, NULL }`: what PKCS #8 puts before the key. */
const RSA_KEY_HEADER = Buffer.from("020100300d06092a864886f70d0101010500", "hex");
const SEQUENCE = 0x30;
const OCTET_STRING = 0x04;

/**
 * An RSA private key in PEM as PKCS #8 in base64, the only format that WebCrypto reads; GitHub sends PKCS #1. Undefined if the text is not PEM
 * of either.
 */
export function readPrivateKey(pem: string): string | undefined {
  const [, kind, base64 = ""] = /-----BEGIN (RSA )?PRIVATE KEY-----([\w+/=\s]{1,20000})-----END/.exec(pem) ?? [];
  const der = Buffer.from(base64, "base64");
  if (der.length === 0) return undefined;
  const pkcs8 = kind === undefined ? der : tlv(SEQUENCE, Buffer.concat([RSA_KEY_HEADER, tlv(OCTET_STRING, der)]));
  return pkcs8.toString("base64");
}

/** An element of DER with a length of two bytes, which those of RSA keys from 1,024 to 16,384 bits have. */
function tlv(tag: number, content: Buffer): Buffer {
  const head = Buffer.from([tag, 0x82, 0, 0]);
  head.writeUInt16BE(content.length, 2);
  return Buffer.concat([head, content]);
}

/** Makes a token for the App with this id. `privateKey` is from {@link readPrivateKey}. */
export async function appJwt(appId: number, privateKey: string, nowMs: number): Promise<string> {
  const now = Math.floor(nowMs / 1_000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iat: now - BACKDATED_SEC, exp: now + VALID_SEC, iss: String(appId) };
  const signed = `${encode({ alg: "RS256", typ: "JWT" })}.${encode(claims)}`;
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("pkcs8", Buffer.from(privateKey, "base64"), algorithm, false, ["sign"]);
  const signature = await crypto.subtle.sign(algorithm.name, key, Buffer.from(signed));
  return `${signed}.${Buffer.from(signature).toString("base64url")}`;
}
