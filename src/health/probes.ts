/** The probes of the four dependencies. */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { ProbeError, type Probe } from "./probe.ts";

export function databaseProbe(db: Db): Probe {
  return async () => {
    await db.execute(sql`select 1`);
  };
}

/** The subset of a bucket that the probe uses. */
export interface HeadBucket {
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

function readAddress(address: () => string | undefined): string | undefined {
  try {
    return address();
  } catch {
    throw new ProbeError("not configured properly");
  }
}
