/** The credential of a request: in its `Authorization` header, or verified by the site Worker. */
import { bearerOf, parseCredential, type ParsedCredential } from "../../../service/tenancy/credentials.ts";
import type { CredentialKind } from "../../../service/gate/types.ts";
import type { ApiContext } from "../context.ts";

const verified = new WeakMap<Request, ParsedCredential>();

/** The same request, which comes from the holder of a credential whatever its headers say. Only for callers that have verified that. */
export function withCredential(request: Request, credential: ParsedCredential): Request {
  verified.set(request, credential);
  return request;
}

/** The request's credential, parsed without I/O; undefined if it has none of this kind that this deployment issued. */
export function presentedCredential(c: ApiContext, kind: CredentialKind): ParsedCredential | undefined {
  const known = verified.get(c.req.raw);
  if (known) return known.kind === kind ? known : undefined;
  const value = bearerOf(c.req.header("Authorization"));
  return value === undefined ? undefined : parseCredential(value, kind, c.get("services").credentialKey);
}
