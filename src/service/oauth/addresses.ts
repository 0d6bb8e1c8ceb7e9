/**
 * Addresses of the authorization server and its metadata (RFC 8414, RFC 9728). Metadata stands only at the addresses that name a path: a
 * client that finds it at the root forgets the key that it was given for another path of this origin.
 */
import { readGitHosts } from "../../engines/git/wire/url.ts";
import type { OAuthEnv } from "./types.ts";

export const MCP_PATH = "/mcp";
export const AUTHORIZE_PATH = "/oauth/authorize";
export const TOKEN_PATH = "/oauth/token";
export const REGISTER_PATH = "/oauth/register";
export const RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource/mcp";
export const SERVER_METADATA_PATH = "/.well-known/oauth-authorization-server/oauth";

/** The only scope: asking questions. What else a grant is limited to is chosen on the consent page. */
export const SCOPE = "search";

/** The issuer of a site, `https://code.example.com`. */
export const issuerOf = (site: string): string => `${site}/oauth`;
/** The protected resource of a site. */
export const resourceOf = (site: string): string => site + MCP_PATH;

/**
 * Whether clients may name the address of their description as their id. Where the service may only reach listed hosts, they register
 * instead.
 */
export function hasClientAddresses({ GIT_HOSTS: hosts }: Pick<OAuthEnv, "GIT_HOSTS">): boolean {
  return readGitHosts(hosts) === undefined;
}

/** The code or token that a request to the token endpoint is about; empty if it names none. */
export const tokenOf = (form: URLSearchParams): string =>
  form.get("code") ?? form.get("refresh_token") ?? form.get("token") ?? "";

/** Metadata of the protected resource. */
export function resourceMetadata(site: string): Record<string, unknown> {
  return {
    resource: resourceOf(site),
    resource_name: "Code Context",
    authorization_servers: [issuerOf(site)],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ["header"],
  };
}

/** Metadata of the authorization server. */
export function serverMetadata(site: string, env: Pick<OAuthEnv, "GIT_HOSTS">): Record<string, unknown> {
  return {
    issuer: issuerOf(site),
    authorization_endpoint: site + AUTHORIZE_PATH,
    token_endpoint: site + TOKEN_PATH,
    registration_endpoint: site + REGISTER_PATH,
    revocation_endpoint: site + TOKEN_PATH,
    protected_resources: [resourceOf(site)],
    scopes_supported: [SCOPE],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: hasClientAddresses(env),
  };
}
