/**
 * Forms whose repetition makes nothing new: several quick clicks, or a form that is sent again after "Back", make one key. The page's form has
 * a sealed seed; what the form makes is derived from it and from the fields, so the same form makes the same thing, and nothing is stored.
 */
import { createHmac, randomBytes } from "node:crypto";
import { seal, unseal } from "../../../lib/seal.ts";
import { invalid } from "./answers.tsx";
import { type DashboardContext, sessionOf } from "./context.ts";

const SEED_BYTES = 32;
/** Name of the hidden field. */
export const ONCE_FIELD = "once";

/** Scope of forms that belong to no team. */
export const ACCOUNT = "account";

/** Value of the hidden field for a new form of the person, by default in the path's team. */
export function newOnce(c: DashboardContext, scope = c.get("membership").tenantId): Promise<string> {
  return seal(c.env.ENCRYPTION_KEY, purposeOf(c, scope), randomBytes(SEED_BYTES).toString("hex"));
}

/**
 * 64 random bytes that are the same for the same form with the same `fields`; undefined without the field, as from scripts. Throws
 * `DashboardError` if the field is not of a form of this person and team.
 */
export async function randomOf(
  c: DashboardContext,
  once: string,
  fields: readonly string[],
  scope = c.get("membership").tenantId,
): Promise<Uint8Array | undefined> {
  if (once === "") return undefined;
  const seed = await unseal(c.env.ENCRYPTION_KEY, purposeOf(c, scope), once).catch(() => undefined);
  if (seed === undefined) throw invalid(ONCE_FIELD, "the form is outdated; load the page again");
  return createHmac("sha512", Buffer.from(seed, "hex")).update(JSON.stringify(fields)).digest();
}

function purposeOf(c: DashboardContext, scope: string): string {
  return `once:${scope}:${sessionOf(c).user.id}`;
}
