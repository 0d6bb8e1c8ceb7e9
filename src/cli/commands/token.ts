import type { CredentialScope } from "../../contract/credentials.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";

export interface TokenOptions {
  /** Seconds. */
  ttl: number;
  repo?: string[];
  scope?: CredentialScope[];
  monthlyCredits?: number;
  rate?: number;
  name?: string;
}

/** `codectx token create`: makes a narrower, shorter API key. Only its value goes to standard output. */
export async function tokenCreate(context: Context, options: TokenOptions): Promise<void> {
  const { ttl, repo, scope, monthlyCredits, rate, name } = options;
  const client = await clientOf(context);
  const { ok: _, ...made } = await client.createToken(
    {
      ttlSeconds: ttl,
      ...(repo && { repos: repo }),
      ...(scope && { scopes: scope }),
      ...(monthlyCredits !== undefined && { monthlyCredits }),
      ...(rate !== undefined && { ratePerMinute: rate }),
      ...(name !== undefined && { name }),
    },
    { signal: context.stop },
  );
  context.ui.result(made, () => made.token);
  context.ui.note(`Expires ${made.expiresAt}. To revoke it: codectx token revoke ${made.id}`);
}

/** `codectx token revoke <id>`. */
export async function tokenRevoke(context: Context, id: string): Promise<void> {
  const client = await clientOf(context);
  const { revoked } = await client.revokeToken(id, { signal: context.stop });
  context.ui.result({ id, revoked }, () => (revoked ? `Token ${id} is revoked.` : `Token ${id} was revoked before.`));
}

async function clientOf(context: Context) {
  const credentials = credentialsOf(context);
  requireApiKey(credentials);
  return createClient(context, credentials);
}
