/**
 * Settings that sessions must have for the service's statements. An endpoint of ours pins them for each connection; a provider's HTTP
 * endpoint (Neon) takes none with a request, so there they are defaults of the role, set with the migrations.
 */
import type { NeonQueryFunction } from "@neondatabase/serverless";
import { pgErrorCode } from "../../../service/db/errors.ts";
import { pause } from "../../../lib/pause.ts";
import { OperatorError } from "../../errors.ts";

/** Setting, its value, and the other values that are as good. */
const NEEDED: readonly [name: string, value: string, alike?: RegExp][] = [
  // Limits are counted, then written: each statement must see what others have committed.
  ["default_transaction_isolation", "read committed"],
  ["default_transaction_read_only", "off"],
  // Forms in which values are read as text.
  ["DateStyle", "ISO, MDY", /^ISO, /],
  ["TimeZone", "UTC", /^(?:Etc\/)?(?:UTC|GMT|UCT|Zulu|Universal|Greenwich)$/],
  ["bytea_output", "hex"],
  ["standard_conforming_strings", "on"],
];
/** Sessions that were open before keep the old values; an endpoint opens new ones after a moment. */
const TRIES = 5;
const PAUSE_MS = 1_000;

type Sql = NeonQueryFunction<false, false>;

/**
 * Makes the needed settings the role's defaults in this database where they are not. Throws `OperatorError`, which names the settings and
 * the statement to run, if the role may not do so or the sessions do not follow.
 */
export async function pinSessions(sql: Sql, pauseMs = PAUSE_MS): Promise<void> {
  let wrong = await unfitSettings(sql);
  if (wrong.length === 0) return;
  for (const { name, value } of wrong) {
    try {
      // ALTER takes no parameters; the name and the value are those above.
      await sql.query(`do $pin$ begin execute format('alter role %I in database %I set ${name} = %L',
        session_user, current_database(), '${value}'); end $pin$`);
    } catch (error) {
      if (pgErrorCode(error) === undefined) throw error;
      throw new OperatorError(explain(wrong), { cause: error });
    }
  }
  for (let attempt = 1; wrong.length > 0; attempt++) {
    if (attempt > TRIES) throw new OperatorError(explain(wrong));
    await pause(pauseMs);
    wrong = await unfitSettings(sql);
  }
}

interface Unfit {
  name: string;
  found: string;
  value: string;
}

/** The settings that {@link pinSessions} would change. */
export async function unfitSettings(sql: Sql): Promise<Unfit[]> {
  const rows = await sql.query("select name, current_setting(name) as setting from unnest($1::text[]) as name", [
    NEEDED.map(([name]) => name),
  ]);
  const settings = new Map(rows.map((row) => [String(row["name"]), String(row["setting"])]));
  return NEEDED.flatMap(([name, value, alike]) => {
    const found = settings.get(name) ?? "";
    return found === value || alike?.test(found) === true ? [] : [{ name, found, value }];
  });
}

function explain(wrong: readonly Unfit[]): string {
  const names = wrong.map(({ name, found, value }) => `${name} is "${found}" and must be "${value}"`).join("; ");
  const statements = wrong.map(
    ({ name, value }) => `alter role <role> in database <database> set ${name} = '${value}';`,
  );
  return `the database's sessions do not fit: ${names}. Run as its owner: ${statements.join(" ")} Then restart the database's sessions, and start again`;
}
