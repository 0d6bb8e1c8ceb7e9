import { RevokeTokenResponse, TokenRequest, TokenResponse } from "../../../contract/index.ts";
import { ApiError, invalidBody } from "../../../lib/errors.ts";
import { databaseOf } from "../../../service/db/databases.ts";
import { TenancyError } from "../../../service/tenancy/errors.ts";
import { createToken, revokeToken } from "../../../service/tenancy/keys.ts";
import type { ApiContext } from "../context.ts";
import { type Route, route } from "../route.ts";

const TAG = "Credentials";

/** Makes a narrower, shorter credential from the one that is sent. */
export const makeToken = route({
  id: "createToken",
  method: "POST",
  path: "/tokens",
  tag: TAG,
  summary: "Make a narrower token",
  description:
    "Makes an API key from the one that is sent: limited to repositories, scopes, credits or a rate, for a time. It is never wider than what it is made from and expires with it at the latest; what it uses counts there as well. A token may make further ones, up to three generations, at most 100 alive of each credential. Revoking a credential revokes those made from it. Outside its scopes it gets 403 `FORBIDDEN`; repositories that it is not limited to do not exist for it.",
  credential: "api_key",
  surface: "tokens",
  body: {
    schema: TokenRequest,
    example: { repos: ["github.com/owner/name"], scopes: ["search"], ttlSeconds: 3_600 },
  },
  responses: { 201: { description: "The token; it is shown once.", schema: TokenResponse } },
  errors: ["FORBIDDEN", "UNAVAILABLE"],
  handle: async (c, { principal, body }) => {
    const { credentialKey } = c.get("services");
    const db = databaseOf(c.env, principal.tenantId);
    const { id, value, expiresAt } = await refusing(() => createToken(db, principal, body, credentialKey));
    return c.json({ ok: true, token: value, id, expiresAt: expiresAt.toISOString() } satisfies TokenResponse, 201);
  },
});

/** Revokes a token that was made from the credential that is sent. */
export const endToken: Route = route({
  id: "revokeToken",
  method: "DELETE",
  path: "/tokens/{id}",
  tag: TAG,
  summary: "Revoke a token",
  description:
    "For tokens made from the credential that is sent, directly or not, and for that credential itself. Tokens made from it are refused as well, within a second.",
  credential: "api_key",
  surface: "tokens",
  parameters: [
    {
      name: "id",
      in: "path",
      required: true,
      description: "From `POST /tokens`.",
      schema: { type: "string", maxLength: 64 },
    },
  ],
  responses: { 200: { description: "The token is revoked.", schema: RevokeTokenResponse } },
  errors: ["NOT_FOUND", "UNAVAILABLE"],
  handle: async (c, { principal }) => {
    const revoked = await refusing(() => revokeToken(databaseOf(c.env, principal.tenantId), principal, idOf(c)));
    return c.json({ ok: true, revoked } satisfies RevokeTokenResponse);
  },
});

/** The public id in the path; one that cannot be an id is one that does not exist. */
function idOf(c: ApiContext): string {
  const id = c.req.param("id") ?? "";
  return /^[0-9A-Za-z]{1,64}$/.test(id) ? id : "none";
}

/** Turns a refused change into the contract's error. */
async function refusing<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof TenancyError)) throw error;
    const { code, message, field = "" } = error;
    if (code === "INVALID") throw invalidBody([{ path: field, message: message.replace(`${field}: `, "") }]);
    if (code === "FORBIDDEN" || code === "NOT_FOUND") throw new ApiError(code, message);
    throw error;
  }
}
