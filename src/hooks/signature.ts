/** Whether a delivery comes from the host: each provider's own way, compared in constant time. */
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

/** Compares by digests of equal length, so that neither the content nor the length of `given` shows in the time. */
function isEqual(given: string | null, expected: string): boolean {
  if (given === null) return false;
  const digest = (text: string) => createHmac("sha256", "compare").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
