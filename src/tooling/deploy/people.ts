/** Steps that create the first tenant and its owner. */
import { asc } from "drizzle-orm";
import { backoffMs } from "../../lib/backoff.ts";
import { openDb } from "../../service/db/client.ts";
import { isUnreachable, pgErrorCode } from "../../service/db/errors.ts";
import { users } from "../../service/db/people-schema.ts";
import { tenants } from "../../service/db/schema.ts";
import { pause } from "../../lib/pause.ts";
import { createTenant, saveCredentialKey } from "../../service/tenancy/index.ts";
import { addUser } from "../../service/users/accounts.ts";
import type { Step } from "./context.ts";
import { OperatorError } from "../errors.ts";

const ATTEMPTS = 5;
const BACKOFF = { baseMs: 500, capMs: 5_000 };
const PG_UNDEFINED_TABLE = "42P01";

export const firstTenant: Step = {
  title: "first tenant",
  plan: async ({ databaseUrl, settings }) => {
    if (databaseUrl !== undefined && (await hasRows(databaseUrl, tenants))) return undefined;
    return `create "${settings.tenantName}"`;
  },
  apply: async ({ databaseUrl, settings, state, say }) => {
    if (databaseUrl === undefined) throw new OperatorError("the database does not exist yet");
    const db = openDb(databaseUrl);
    const { encryptionKey } = state.read();
    if (encryptionKey !== undefined) await saveCredentialKey(db, encryptionKey);
    const tenant = await createTenant(db, { name: settings.tenantName });
    say(`  tenant        ${tenant.tenantId}`);
    say(`  API key       ${tenant.apiKey}`);
    say(`  worker token  ${tenant.workerToken}`);
    say("  Keep both: they are not shown again (npm run admin -- key create makes others).");
  },
};

/** Makes the given person the owner of the first tenant, if there are no users yet. */
export const firstOwner: Step = {
  title: "first owner",
  plan: async ({ databaseUrl, settings: { ownerEmail } }) => {
    if (ownerEmail === undefined || (databaseUrl !== undefined && (await hasRows(databaseUrl, users))))
      return undefined;
    return `add ${ownerEmail}`;
  },
  apply: async ({ databaseUrl, settings: { ownerEmail: email }, variables, say }) => {
    if (databaseUrl === undefined || email === undefined) throw new OperatorError("the database does not exist yet");
    const db = openDb(databaseUrl);
    const [tenant] = await db.select({ id: tenants.id }).from(tenants).orderBy(asc(tenants.createdAt)).limit(1);
    await addUser(db, { email, tenantId: tenant?.id ?? "", role: "owner" });
    if ((variables.values["MAIL_PROVIDER"] ?? "none") === "none") {
      say(`  ${email} cannot sign in to the dashboard yet: set MAIL_PROVIDER and MAIL_FROM, and deploy again.`);
    }
  },
};

/**
 * Whether a table has rows; false if it does not exist yet, before the first migration. Asks again if the database was not reached:
 * a lost answer says nothing about the rows. Throws `OperatorError` if the database does not answer.
 */
async function hasRows(databaseUrl: string, table: typeof tenants | typeof users): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await openDb(databaseUrl).$count(table)) > 0;
    } catch (error) {
      if (pgErrorCode(error) === PG_UNDEFINED_TABLE) return false;
      if (!isUnreachable(error)) throw error;
      if (attempt === ATTEMPTS)
        throw new OperatorError("the database does not answer: check DATABASE_URL and its host");
    }
    await pause(backoffMs(attempt, BACKOFF));
  }
}
