import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { unsealReadToken } from "../../../src/service/sources/read-token.ts";
import { type Db, openDb } from "../../../src/service/db/client.ts";
import { githubApps } from "../../../src/service/db/github-schema.ts";
import { hooks, mails, repositorySources } from "../../../src/service/db/people-schema.ts";
import { appSecretPurpose, openApp } from "../../../src/service/github/secrets.ts";
import { isHookId, newHookId } from "../../../src/service/hooks/ids.ts";
import { hookSecretPurpose } from "../../../src/service/hooks/manage.ts";
import { seal, unseal } from "../../../src/lib/seal.ts";
import { mailPurpose } from "../../../src/service/mail/outbox.ts";
import { readKeyRing, writeKeyRing } from "../../../src/lib/key-ring.ts";
import {
  addKey,
  dropKeys,
  reseal,
  switchKey,
  useEncryptionKey,
} from "../../../src/tooling/local/admin/encryption-key.ts";
import { OperatorError } from "../../../src/tooling/errors.ts";
import {
  createTenant,
  createWorkspace,
  deriveCredentialKey,
  parseCredential,
  saveCredentialKey,
} from "../../../src/service/tenancy/index.ts";
import { emptyDatabase } from "../../support/empty-database.ts";

const OLD = "0123456789abcdef0123456789abcdef0123456789=";
let db: Db;

beforeAll(async () => {
  db = openDb(await emptyDatabase());
});

describe("rotation of ENCRYPTION_KEY", () => {
  it("keeps credentials, hooks and sealed secrets working at every step, and drops the old key", async () => {
    await saveCredentialKey(db, OLD);
    const { tenantId, apiKey } = await createTenant(db, { name: "acme" });
    const { workspaceId } = await createWorkspace(db, { tenantId });
    const hookId = newHookId(OLD);
    const place = { workspaceId, cloneUrl: "https://example.com/a/b" };
    // As earlier versions sealed it.
    const sealedToken = await seal(OLD, `read-token:${workspaceId}`, "token");
    await db.insert(repositorySources).values({ ...place, sealedToken });
    const mailId = crypto.randomUUID();
    const sealed = await seal(OLD, mailPurpose(mailId), "message");
    await db.insert(mails).values({ id: mailId, kind: "invitation", sealed, expiresAt: new Date(Date.now() + 60_000) });
    const sealedSecret = await seal(OLD, hookSecretPurpose(hookId), "secret");
    await db.insert(hooks).values({ id: hookId, tenantId, workspaceId, provider: "github", sealedSecret });
    const appId = newHookId(OLD);
    const app = { origin: "https://github.com", appId: 1, name: "a", owner: "o", pageUrl: "https://github.com/apps/a" };
    const sealedApp = await seal(OLD, appSecretPurpose(appId), '{"privateKey":"k"}');
    await db.insert(githubApps).values({ id: appId, tenantId, ...app, sealedSecret: sealedApp });
    const works = async (value: string) => {
      const [made] = await db.select().from(githubApps);
      expect(await openApp(value, made ?? { id: "", sealedSecret: "" })).toEqual({ privateKey: "k" });
      const [source] = await db.select().from(repositorySources).where(eq(repositorySources.workspaceId, workspaceId));
      const [hook] = await db.select().from(hooks).where(eq(hooks.id, hookId));
      expect(await unsealReadToken(value, place, source?.sealedToken ?? "")).toBe("token");
      const [mail] = await db.select().from(mails).where(eq(mails.id, mailId));
      expect(await unseal(value, mailPurpose(mailId), mail?.sealed ?? "")).toBe("message");
      expect(await unseal(value, hookSecretPurpose(hookId), hook?.sealedSecret ?? "")).toBe("secret");
      expect(isHookId(value, hookId)).toBe(true);
      expect(parseCredential(apiKey, "api_key", deriveCredentialKey(value))?.tenantId).toBe(tenantId);
      await saveCredentialKey(db, value);
    };

    const added = addKey(OLD);
    await works(added);
    expect(() => addKey(added)).toThrow(/under way/);
    const switched = switchKey(added);
    await works(switched);
    // Workers that are deployed one after the other understand each other.
    expect(await unseal(added, "p", await seal(switched, "p", "x"))).toBe("x");
    expect(await unseal(switched, "p", await seal(added, "p", "x"))).toBe("x");
    await expect(dropKeys(db, switched)).rejects.toThrow(/reseal/);

    expect(await reseal(db, switched)).toEqual({ resealed: 4, changed: 0 });
    expect(await reseal(db, switched)).toEqual({ resealed: 4, changed: 0 });
    await works(switched);
    const last = await dropKeys(db, switched);
    await works(last);
    expect(readKeyRing(last)).toMatchObject({ others: [], ids: OLD });
    const [source] = await db.select().from(repositorySources);
    await expect(unsealReadToken(OLD, place, source?.sealedToken ?? "")).rejects.toThrow();
    await works(switchKey(addKey(last)));
  });

  it("reads a key as it is, and refuses what is no ring", () => {
    expect(readKeyRing(OLD)).toEqual({ current: OLD, others: [], ids: OLD });
    expect(writeKeyRing(readKeyRing(OLD))).toBe(OLD);
    for (const text of ["{", "{}", '{"current":"a","others":"b","ids":"c"}', '{"current":1,"others":[],"ids":"c"}'])
      expect(() => readKeyRing(text)).toThrow(/ENCRYPTION_KEY: expected/);
    expect(() => switchKey(OLD)).toThrow(/the value that encryption-key add printed/);
  });

  it("refuses the key of another service, and says where that of this one is", async () => {
    await useEncryptionKey(db, OLD);
    const other = OLD.replace("0", "9");
    await expect(useEncryptionKey(db, other)).rejects.toThrow(
      /set up with; that one is `encryptionKey` in .*secrets\.json/,
    );
    await expect(useEncryptionKey(db, "{")).rejects.toThrow(OperatorError);
    await expect(useEncryptionKey(db, "short")).rejects.toThrow("ENCRYPTION_KEY: expected at least 32 characters");
  });
});
