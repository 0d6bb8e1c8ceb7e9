/** Clients whose id is the address of a document that describes them (client-id metadata documents). */
import * as z from "zod";
import { checkRemoteUrl } from "../../engines/git/wire/url.ts";
import { readBounded } from "../../lib/read-bounded.ts";
import { hasClientAddresses } from "./addresses.ts";
import type { OAuthEnv } from "./types.ts";

/** How long a description is used before it is fetched again. */
export const CLIENT_METADATA_TTL_SEC = 3_600;
const MAX_ID_CHARACTERS = 1_000;
const MAX_BYTES = 16 * 1024;
const TIMEOUT_MS = 5_000;

const Description = z.object({
  client_id: z.string(),
  client_name: z.string().trim().min(1).max(200),
  client_uri: z.string().max(MAX_ID_CHARACTERS).optional(),
  redirect_uris: z.array(z.string().max(MAX_ID_CHARACTERS)).min(1).max(50),
  token_endpoint_auth_method: z.string().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).max(20).optional(),
});

/** Whether a client id has the form of an address. */
export const isClientAddress = (clientId: string): boolean => /^https?:\/\//i.test(clientId);

/**
 * Fetches the description of a client, as the library stores a public client; null if there is none that can be used. The address
 * must follow the rules for addresses of repositories, and is not followed to another one.
 */
export async function fetchClient(
  clientId: string,
  env: Pick<OAuthEnv, "GIT_ALLOW_LOCAL" | "GIT_HOSTS">,
  fetcher: typeof fetch,
): Promise<Record<string, unknown> | null> {
  if (clientId.length > MAX_ID_CHARACTERS || !hasClientAddresses(env)) return null;
  try {
    const url = checkRemoteUrl(clientId, { allowLocal: env.GIT_ALLOW_LOCAL === "true" });
    if (url.href !== clientId || url.pathname === "/") return null;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetcher(url, { redirect: "manual", headers: { Accept: "application/json" }, signal });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      return null;
    }
    const described = Description.parse(JSON.parse(await readText(answer)));
    const methods = described.token_endpoint_auth_methods_supported ?? [described.token_endpoint_auth_method ?? "none"];
    if (described.client_id !== clientId || !methods.includes("none")) return null;
    return {
      clientId,
      clientName: described.client_name,
      clientUri: described.client_uri,
      redirectUris: described.redirect_uris,
      tokenEndpointAuthMethod: "none",
      grantTypes: ["authorization_code", "refresh_token"],
      responseTypes: ["code"],
    };
  } catch {
    // The answer of the address is not disclosed: any failure counts as an unknown client.
    return null;
  }
}

async function readText({ body }: Response): Promise<string> {
  const bytes = await readBounded(body, MAX_BYTES);
  if (bytes === undefined) throw new Error("the description is too large");
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
}
