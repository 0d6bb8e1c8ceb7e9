/** Rules of credentials that are narrower than their tenant. */
import { type Restrictions, SCOPES, type CredentialScope } from "../../contract/credentials.ts";
import { normalizeRepo } from "../../lib/repo.ts";
import type { CredentialKind } from "./credentials.ts";
import { TenancyError } from "./errors.ts";

/** Scopes of a credential without restrictions. */
const SCOPES_OF_KIND: Record<CredentialKind, readonly CredentialScope[]> = {
  api_key: ["search", "embed", "rerank", "snapshot"],
  worker_token: ["index", "snapshot"],
};

/** The kind in a credential's row: narrow ones have kinds of their own, which earlier releases refuse. */
export type StoredKind = CredentialKind | `narrow_${CredentialKind}`;

/** The kind of a credential as callers know it. */
export function kindOf(stored: StoredKind): CredentialKind {
  return stored.endsWith("worker_token") ? "worker_token" : "api_key";
}

/** Whether a credential of this kind may be used for a scope. */
export function hasScope(
  kind: CredentialKind,
  restrictions: Pick<Restrictions, "scopes">,
  scope: CredentialScope,
): boolean {
  return (restrictions.scopes ?? SCOPES_OF_KIND[kind]).includes(scope);
}

/** Whether a credential may touch a repository; one without an identity only if its credential is not limited to repositories. */
export function mayUseRepo({ repos }: { repos?: readonly string[] | undefined }, repo: string | null): boolean {
  return repos === undefined || (repo !== null && repos.includes(repo));
}

/**
 * Checks what a credential is to be limited to: repositories become identities, lists lose their repetitions. Throws `TenancyError`
 * that names the field.
 */
export function checkRestrictions(kind: CredentialKind, { repos, scopes, ...rest }: Restrictions): Restrictions {
  const identities = repos?.map((repo) => {
    const identity = normalizeRepo(repo);
    if (identity !== undefined) return identity;
    throw new TenancyError(
      "INVALID",
      `repos: ${repo} is not a repository's identity, such as github.com/owner/name`,
      "repos",
    );
  });
  const foreign = scopes?.find((scope) => !SCOPES_OF_KIND[kind].includes(scope));
  if (foreign !== undefined) {
    const what = kind === "api_key" ? "an API key" : "a worker token";
    throw new TenancyError("FORBIDDEN", `scopes: ${what} cannot have ${foreign}`, "scopes");
  }
  return {
    ...(identities && { repos: [...new Set(identities)].toSorted() }),
    ...(scopes && { scopes: SCOPES.filter((scope) => scopes.includes(scope)) }),
    ...definedOf(rest),
  };
}

/**
 * The restrictions of a credential that is made from another one: those asked for where the parent allows them, the parent's where nothing
 * was asked. Budgets and rates are not inherited: the parent's apply to what its tokens use as well. Throws `TenancyError` for anything wider.
 */
export function narrow(kind: CredentialKind, parent: Restrictions, asked: Restrictions): Restrictions {
  const wanted = checkRestrictions(kind, asked);
  for (const field of ["repos", "scopes"] as const) {
    const allowed: readonly string[] | undefined = parent[field];
    const wider = allowed && wanted[field]?.find((value) => !allowed.includes(value));
    if (wider !== undefined) throw isWider(field, `${wider} is not among those of the credential that makes the token`);
  }
  for (const field of ["monthlyCredits", "ratePerMinute"] as const) {
    const [limit, value] = [parent[field], wanted[field]];
    if (limit !== undefined && value !== undefined && value > limit)
      throw isWider(field, `the credential that makes the token has ${limit}`);
  }
  const { repos, scopes } = parent;
  return { ...(repos && { repos }), ...(scopes && { scopes }), ...wanted };
}

function isWider(field: keyof Restrictions, why: string): TenancyError {
  return new TenancyError("FORBIDDEN", `${field}: a token cannot be wider than what it is made from: ${why}`, field);
}

function definedOf({ monthlyCredits, ratePerMinute }: Restrictions): Restrictions {
  return {
    ...(monthlyCredits !== undefined && { monthlyCredits }),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
  };
}
