/** Rotation of `ENCRYPTION_KEY`: its successive values, and resealing of stored secrets. */
import { randomBytes } from "node:crypto";
import { and, eq, isNotNull } from "drizzle-orm";
import { sealReadToken, unsealReadToken } from "../../../service/sources/read-token.ts";
import type { Db } from "../../../service/db/client.ts";
import { githubApps } from "../../../service/db/github-schema.ts";
import { hooks, mails, repositorySources } from "../../../service/db/people-schema.ts";
import { appSecretPurpose } from "../../../service/github/secrets.ts";
import { hookSecretPurpose } from "../../../service/hooks/manage.ts";
import { seal, unseal } from "../../../lib/seal.ts";
import { mailPurpose } from "../../../service/mail/outbox.ts";
import { readKeyRing, writeKeyRing } from "../../../lib/key-ring.ts";
import { saveCredentialKey, TenancyError } from "../../../service/tenancy/index.ts";
import { OperatorError } from "../../errors.ts";

/** Where an operator finds the value that a service has. */
export const KEY_PLACES =
  "`encryptionKey` in .deploy/<environment>.json of a deployment, or in secrets.json of a local data directory";
const MIN_KEY_LENGTH = 32;

/** Throws `OperatorError` for an `ENCRYPTION_KEY` that is too short or a damaged ring. */
export function checkEncryptionKey(secret: string): void {
  let ring: ReturnType<typeof readKeyRing>;
  try {
    ring = readKeyRing(secret);
  } catch (error) {
    throw new OperatorError(error instanceof Error ? error.message : String(error));
  }
  if ([ring.current, ...ring.others, ring.ids].some((key) => key.length < MIN_KEY_LENGTH))
    throw new OperatorError(`ENCRYPTION_KEY: expected at least ${MIN_KEY_LENGTH} characters`);
}

/** Makes `ENCRYPTION_KEY` that of a database without one. Throws `OperatorError` if the database's service has another. */
export async function useEncryptionKey(db: Db, secret: string): Promise<void> {
  checkEncryptionKey(secret);
  try {
    await saveCredentialKey(db, secret);
  } catch (error) {
    if (error instanceof TenancyError) throw new OperatorError(`${error.message}; that one is ${KEY_PLACES}`);
    throw error;
  }
}

/** First value: adds a new key for decryption only, so that every Worker has it before it is used for encryption. */
export function addKey(secret: string): string {
  const ring = readKeyRing(secret);
  if (ring.others.length > 0)
    throw new OperatorError("ENCRYPTION_KEY: a rotation is under way; finish it first (switch, reseal, drop)");
  return writeKeyRing({ ...ring, others: [randomBytes(32).toString("base64")] });
}

/** Second value: the new key encrypts; the old one still decrypts. */
export function switchKey(secret: string): string {
  const { current, others, ids } = readKeyRing(secret);
  const [next, ...rest] = others;
  if (next === undefined)
    throw new OperatorError(
      "ENCRYPTION_KEY: there is no other key to switch to: set it to the value that encryption-key add printed",
    );
  return writeKeyRing({ current: next, others: [...rest, current], ids });
}

/** Last value: only the new key, and the key of the checks in public ids. Throws while the database holds values that need another key. */
export async function dropKeys(db: Db, secret: string): Promise<string> {
  const ring = { ...readKeyRing(secret), others: [] };
  for (const row of await sealedRows(db)) {
    const opens = await row.unseal(ring.current).then(
      () => true,
      () => false,
    );
    if (!opens)
      throw new OperatorError("the database still holds values sealed with the old key: run encryption-key reseal");
  }
  return writeKeyRing(ring);
}

interface ResealReport {
  /** Rows resealed with the current key. */
  resealed: number;
  /** Rows that changed in the meantime; a second run reseals them if necessary. */
  changed: number;
}

/** Reseals every stored read token, secret of a hook or GitHub App, and waiting message with the current key. Idempotent; may be interrupted. */
export async function reseal(db: Db, secret: string): Promise<ResealReport> {
  const { current } = readKeyRing(secret);
  const report: ResealReport = { resealed: 0, changed: 0 };
  for (const row of await sealedRows(db)) {
    const plain = await row.unseal(secret).catch(() => {
      throw new OperatorError(
        `no key in ENCRYPTION_KEY decrypts ${row.name}: set it to the value that the Workers have, ${KEY_PLACES}`,
      );
    });
    if (await row.replace(await row.seal(current, plain))) report.resealed++;
    else report.changed++;
  }
  return report;
}

interface SealedRow {
  name: string;
  seal: (secret: string, plain: string) => Promise<string>;
  unseal: (secret: string) => Promise<string>;
  /** Replaces the sealed text, unless the row has changed since it was read. */
  replace: (sealed: string) => Promise<boolean>;
}

async function sealedRows(db: Db): Promise<SealedRow[]> {
  return [
    ...(await readTokens(db)),
    ...(await hookSecrets(db)),
    ...(await appSecrets(db)),
    ...(await waitingMails(db)),
  ];
}

async function readTokens(db: Db): Promise<SealedRow[]> {
  const { workspaceId: id, sealedToken: token, cloneUrl: url } = repositorySources;
  const rows = await db
    .select({ workspaceId: id, cloneUrl: url, token })
    .from(repositorySources)
    .where(isNotNull(token));
  return rows.map(({ token: sealed, ...place }) => ({
    name: `the read token of workspace ${place.workspaceId}`,
    seal: (secret, plain) => sealReadToken(secret, place, plain),
    unseal: (secret) => unsealReadToken(secret, place, sealed ?? ""),
    replace: async (sealedToken) => {
      const same = and(eq(id, place.workspaceId), eq(url, place.cloneUrl), eq(token, sealed ?? ""));
      return (await db.update(repositorySources).set({ sealedToken }).where(same).returning({ id })).length > 0;
    },
  }));
}

async function hookSecrets(db: Db): Promise<SealedRow[]> {
  const rows = await db.select({ id: hooks.id, sealed: hooks.sealedSecret }).from(hooks);
  return rows.map(({ id, sealed }) =>
    sealedRow(hookSecretPurpose(id), sealed, async (sealedSecret) => {
      const same = and(eq(hooks.id, id), eq(hooks.sealedSecret, sealed));
      return (await db.update(hooks).set({ sealedSecret }).where(same).returning({ id: hooks.id })).length > 0;
    }),
  );
}

async function appSecrets(db: Db): Promise<SealedRow[]> {
  const rows = await db.select({ id: githubApps.id, sealed: githubApps.sealedSecret }).from(githubApps);
  return rows.map(({ id, sealed }) =>
    sealedRow(appSecretPurpose(id), sealed, async (sealedSecret) => {
      const same = and(eq(githubApps.id, id), eq(githubApps.sealedSecret, sealed));
      const changed = await db.update(githubApps).set({ sealedSecret }).where(same).returning({ id: githubApps.id });
      return changed.length > 0;
    }),
  );
}

async function waitingMails(db: Db): Promise<SealedRow[]> {
  const rows = await db.select({ id: mails.id, sealed: mails.sealed }).from(mails).where(isNotNull(mails.sealed));
  return rows.map(({ id, sealed }) =>
    sealedRow(mailPurpose(id), sealed ?? "", async (resealed) => {
      const same = and(eq(mails.id, id), eq(mails.sealed, sealed ?? ""));
      return (await db.update(mails).set({ sealed: resealed }).where(same).returning({ id: mails.id })).length > 0;
    }),
  );
}

function sealedRow(purpose: string, sealed: string, replace: SealedRow["replace"]): SealedRow {
  return {
    name: purpose,
    seal: (secret, plain) => seal(secret, purpose, plain),
    unseal: (secret) => unseal(secret, purpose, sealed),
    replace,
  };
}
