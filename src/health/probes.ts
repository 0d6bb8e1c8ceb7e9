/** The probes of the four dependencies. */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { ProbeError, type Probe } from "./probe.ts";

export function databaseProbe(db: Db): Probe {
  return async () => {
    await db.execute(sql`select 1`);
  };
}

/** The part of a bucket that is used. */
export interface HeadBucket {
  head(key: string): Promise<unknown>;
}

/** Asks for an object that need not exist: the answer counts, not the object. */
export function storageProbe(bucket: HeadBucket): Probe {
  return async () => {
    await bucket.head("health");
  };
}

/**
 * Knocks at a model provider without calling the model, so it costs no tokens: any answer that is no server error will
 * do, a refusal for want of a key included. Without an address (a provider inside the Worker, or none) there is nothing to
 * reach.
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
