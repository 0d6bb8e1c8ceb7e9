/** Rotation of `ENCRYPTION_KEY`: its successive values, and resealing of stored secrets. */
import { randomBytes } from "node:crypto";
import { and, eq, isNotNull } from "drizzle-orm";
import { readTokenPurpose } from "../../dashboard/sources.ts";
import type { Db } from "../../db/client.ts";
import { hooks, repositorySources } from "../../db/people-schema.ts";
import { hookSecretPurpose } from "../../hooks/manage.ts";
import { seal, unseal } from "../../indexing/seal.ts";
import { readKeyRing, writeKeyRing } from "../../key-ring.ts";
import { StartError } from "../errors.ts";

/** First value: adds a new key for decryption only, so that every Worker has it before it is used for encryption. */
export function addKey(secret: string): string {
  const ring = readKeyRing(secret);
  if (ring.others.length > 0) throw new StartError("ENCRYPTION_KEY: a rotation is under way; finish it first");
  return writeKeyRing({ ...ring, others: [randomBytes(32).toString("base64")] });
}

/** Second value: the new key encrypts; the old one still decrypts. */
export function switchKey(secret: string): string {
  const { current, others, ids } = readKeyRing(secret);
  const [next, ...rest] = others;
  if (next === undefined) throw new StartError("ENCRYPTION_KEY: there is no other key to switch to; add one first");
  return writeKeyRing({ current: next, others: [...rest, current], ids });
}

/** Last value: only the new key, and the key of the checks in public ids. Throws while the database holds values that need another key. */
export async function dropKeys(db: Db, secret: string): Promise<string> {
  const ring = { ...readKeyRing(secret), others: [] };
  for (const row of await sealedRows(db)) {
    const opens = await unseal(ring.current, row.purpose, row.sealed).then(
      () => true,
      () => false,
    );
    if (!opens)
      throw new StartError("the database still holds values sealed with the old key: run encryption-key reseal");
  }
  return writeKeyRing(ring);
}

export interface ResealReport {
  /** Rows resealed with the current key. */
  resealed: number;
  /** Rows that changed in the meantime; a second run reseals them if necessary. */
  changed: number;
}

/** Reseals every stored read token and hook secret with the current key. Idempotent; may be interrupted. */
export async function reseal(db: Db, secret: string): Promise<ResealReport> {
  const { current } = readKeyRing(secret);
  const report: ResealReport = { resealed: 0, changed: 0 };
  for (const { purpose, sealed, replace } of await sealedRows(db)) {
    const plain = await unseal(secret, purpose, sealed).catch(() => {
      throw new StartError(`no key in ENCRYPTION_KEY decrypts ${purpose}: set it to the value that the Workers have`);
    });
    if (await replace(await seal(current, purpose, plain))) report.resealed++;
    else report.changed++;
  }
  return report;
}

interface SealedRow {
  purpose: string;
  sealed: string;
  /** Replaces the sealed text, unless the row has changed since it was read. */
  replace: (sealed: string) => Promise<boolean>;
}

async function sealedRows(db: Db): Promise<SealedRow[]> {
  const { workspaceId: id, sealedToken: token } = repositorySources;
  const tokens = await db.select({ id, token }).from(repositorySources).where(isNotNull(token));
  const secrets = await db.select({ id: hooks.id, sealed: hooks.sealedSecret }).from(hooks);
  return [
    ...tokens.map(({ id: workspaceId, token: sealed }) => ({
      purpose: readTokenPurpose(workspaceId),
      sealed: sealed ?? "",
      replace: async (sealedToken: string) => {
        const same = and(eq(id, workspaceId), eq(token, sealed ?? ""));
        return (await db.update(repositorySources).set({ sealedToken }).where(same).returning({ id })).length > 0;
      },
    })),
    ...secrets.map(({ id: hookId, sealed }) => ({
      purpose: hookSecretPurpose(hookId),
      sealed,
      replace: async (sealedSecret: string) => {
        const same = and(eq(hooks.id, hookId), eq(hooks.sealedSecret, sealed));
        return (await db.update(hooks).set({ sealedSecret }).where(same).returning({ id: hooks.id })).length > 0;
      },
    })),
  ];
}
