/** The probes of the dependencies. */
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { tenants } from "../db/schema.ts";
import { rowsOf } from "../db/rows.ts";
import { ProbeError, type Probe } from "./probe.ts";

/** Fails also if a session has settings under which limits would not hold or times could not be read. */
export function databaseProbe(db: Db): Probe {
  return async () => {
    const [row] = await rowsOf<{ fits: boolean }>(
      db,
      sql`select current_setting('transaction_isolation') = 'read committed' and current_setting('DateStyle') like 'ISO,%' as fits`,
    );
    if (row?.fits !== true) throw new ProbeError("has another isolation or date style than the service needs");
  };
}

/** The subset of a bucket that the probe uses. */
interface HeadBucket {
  head(key: string): Promise<unknown>;
}

/** Looks up an object that need not exist: any answer means that storage works. */
export function storageProbe(bucket: HeadBucket): Probe {
  return async () => {
    await bucket.head("health");
  };
}

/**
 * Sends a request to the model provider's address without calling a model, so it costs no tokens. Any answer except a server
 * error passes, including 401. Passes if there is no address (a provider inside the Worker, or none).
 */
export function embeddingProbe(
  fetch: (url: string, init: RequestInit) => Promise<Response>,
  address: () => string | undefined,
): Probe {
  return async (signal) => {
    const url = readAddress(address);
    if (url === undefined) return;
    const response = await fetch(url, { redirect: "manual", signal });
    await response.body?.cancel();
    if (response.status >= 500) throw new ProbeError(`answered with status ${response.status}`);
  };
}

/** The gate calls that the probe makes. */
interface ProbedGate {
  usage(): Promise<unknown>;
  check(): Promise<void>;
}

/** Name of the gate that belongs to no tenant. It is used by the probe alone, so it has tables in every deployment. */
const HEALTH_GATE = "health";

/**
 * Calls the probe's own gate, and the gate of one tenant. A tenant's gate that fails is called again in the next rounds, until
 * it answers.
 */
export function gateProbe(gateOf: (name: string) => ProbedGate, pickTenant: () => Promise<string | undefined>): Probe {
  let suspect: string | undefined;
  return async () => {
    await gateOf(HEALTH_GATE).usage();
    // The database has a check of its own.
    const tenantId = suspect ?? (await pickTenant().catch(() => undefined));
    if (tenantId === undefined) return;
    suspect = tenantId;
    await gateOf(tenantId).check();
    suspect = undefined;
  };
}

/** Id of a random tenant; undefined if there is none. */
export async function randomTenant(db: Db): Promise<string | undefined> {
  const from = (condition: SQL) =>
    sql`(select ${tenants.id} from ${tenants} where ${condition} order by ${tenants.id} limit 1)`;
  const { rows } = await db.execute<{ id: string }>(
    sql`${from(sql`${tenants.id} >= ${crypto.randomUUID()}::uuid`)} union all ${from(sql`true`)} limit 1`,
  );
  return rows[0]?.id;
}

function readAddress(address: () => string | undefined): string | undefined {
  try {
    return address();
  } catch {
    throw new ProbeError("not configured properly");
  }
}
