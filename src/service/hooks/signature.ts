/** Verifies that a delivery comes from the git host, in the way of each provider. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { HookProvider } from "../db/people-schema.ts";

interface HeaderReader {
  get(name: string): string | null;
}

/** Checks a delivery's signature (GitHub, Gitea) or token (GitLab) against the hook's secret. */
export function isGenuine(provider: HookProvider, headers: HeaderReader, body: Uint8Array, secret: string): boolean {
  switch (provider) {
    case "github":
      return isEqual(headers.get("X-Hub-Signature-256"), `sha256=${hmacHex(secret, body)}`);
    case "gitea":
      return isEqual(headers.get("X-Gitea-Signature"), hmacHex(secret, body));
    case "gitlab":
      return isEqual(headers.get("X-Gitlab-Token"), secret);
  }
}

function hmacHex(secret: string, body: Uint8Array): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

/** Compares digests in constant time, so that timing reveals neither content nor length. */
function isEqual(given: string | null, expected: string): boolean {
  if (given === null) return false;
  const digest = (text: string) => createHmac("sha256", "compare").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
