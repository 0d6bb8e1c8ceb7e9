/**
 * Forms whose repetition makes nothing new: several quick clicks, or a form that is sent again after "Back", make one key. The page's form has
 * a sealed seed; what the form makes is derived from it and from the fields, so the same form makes the same thing, and nothing is stored.
 */
import { createHmac, randomBytes } from "node:crypto";
import { seal, unseal } from "../../../lib/seal.ts";
import { invalid } from "./answers.tsx";
import { type DashboardContext, sessionOf } from "./context.ts";

const SEED_BYTES = 32;
/** Age of a form that is no longer taken. */
const MAX_AGE_MS = 86_400_000;
/** Name of the hidden field. */
export const ONCE_FIELD = "once";

/** Scope of forms that belong to no team. */
export const ACCOUNT = "account";

/** Value of the hidden field for a new form of the person, by default in the path's team. */
export function newOnce(c: DashboardContext, scope = c.get("membership").tenantId): Promise<string> {
  return seal(c.env.ENCRYPTION_KEY, purposeOf(c, scope), `${Date.now()}.${randomBytes(SEED_BYTES).toString("hex")}`);
}

/**
 * 64 random bytes that are the same for the same form with the same `fields`; undefined without the field, as from scripts. Throws
 * `DashboardError` if the field is not of a form of this person and team, of the last 24 hours.
 */
export async function randomOf(
  c: DashboardContext,
  once: string,
  fields: readonly string[],
  scope = c.get("membership").tenantId,
): Promise<Uint8Array | undefined> {
  if (once === "") return undefined;
  const opened = await unseal(c.env.ENCRYPTION_KEY, purposeOf(c, scope), once).catch(() => "");
  const [madeAtMs, seed] = opened.split(".");
  if (seed === undefined || Date.now() - Number(madeAtMs) > MAX_AGE_MS)
    throw invalid(ONCE_FIELD, "the form is outdated; load the page again");
  return createHmac("sha512", Buffer.from(seed, "hex")).update(JSON.stringify(fields)).digest();
}

function purposeOf(c: DashboardContext, scope: string): string {
  return `once:${scope}:${sessionOf(c).user.id}`;
}
