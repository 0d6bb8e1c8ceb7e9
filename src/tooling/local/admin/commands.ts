/** What each command of `npm run admin` does. */
import path from "node:path";
import { eq } from "drizzle-orm";
import { Restrictions } from "../../../contract/credentials.ts";
import type { Db } from "../../../service/db/client.ts";
import { erasures } from "../../../service/db/records-schema.ts";
import { periodOf } from "../../../service/gate/period.ts";
import { eraseTenant } from "../../../service/tenancy/erase.ts";
import { checkUuid } from "../../../service/tenancy/fields.ts";
import {
  createKey,
  createTenant,
  createWorkspace,
  type CredentialKind,
  deriveCredentialKey,
  revokeKey,
  savedCredentialKey,
  setTenant,
} from "../../../service/tenancy/index.ts";
import { addUser, carryCredits, checkEmail, checkRole } from "../../../service/users/index.ts";
import { OperatorError, UsageError } from "../../errors.ts";
import { localBucketUrl } from "../stack/bucket-url.ts";
import { readDataDir } from "../stack/environment.ts";
import { localSecrets } from "../stack/local-secrets.ts";
import { readServiceFile } from "../stack/service-file.ts";
import { backUp, type Manifest, restore } from "./backup.ts";
import { type Bucket, openBucket } from "./bucket.ts";
import { addKey, dropKeys, KEY_PLACES, reseal, switchKey } from "./encryption-key.ts";
import { listCredentials, listTenants, listUsers, listWorkspaces, type Row } from "./lists.ts";
import { exportTenant, rowsLeft } from "./tenant-data.ts";

/** A switch that was given has the value "true". */
export type Flags = Record<string, string | undefined>;

export interface Command {
  required: readonly string[];
  optional: readonly string[];
  /** The result; of a list, all of its rows. */
  run(db: Db, flags: Flags): Promise<Row | Row[]>;
}

/** The commands by name. */
export const COMMANDS: Record<string, Command> = {
  "tenant create": {
    required: ["name"],
    optional: ["monthly-credits", "shared-index"],
    run: async (db, flags) => ({ ...(await createTenant(db, { name: flags["name"] ?? "", ...tenantValues(flags) })) }),
  },
  "tenant list": { required: [], optional: [], run: listTenants },
  "tenant set": {
    required: ["tenant"],
    optional: ["monthly-credits", "shared-index"],
    run: async (db, flags) => {
      const tenantId = flags["tenant"] ?? "";
      const values = tenantValues(flags);
      if (Object.keys(values).length === 0) throw new UsageError("expected --shared-index or --monthly-credits");
      await setTenant(db, { tenantId, ...values });
      return { tenantId, ...values };
    },
  },
  "tenant export": {
    required: ["tenant", "to"],
    optional: ["without-objects"],
    run: async (db, flags) => {
      const tenantId = tenantOf(flags);
      const bucket = flags["without-objects"] === undefined ? await adminBucket(db) : undefined;
      return { ...(await exportTenant(db, { tenantId, folder: path.resolve(flags["to"] ?? ""), bucket })) };
    },
  },
  "tenant erase": {
    required: ["tenant"],
    optional: [],
    run: async (db, flags) => {
      const tenantId = tenantOf(flags);
      await carryCredits(db, { tenantId, period: periodOf(Date.now()), credits: 0 });
      if (!(await eraseTenant(db, tenantId))) throw new OperatorError(`there is no tenant ${tenantId}`);
      return { tenantId, erased: true };
    },
  },
  "tenant erased": {
    required: ["tenant"],
    optional: [],
    run: async (db, flags) => {
      const tenantId = tenantOf(flags);
      const [found] = await db.select().from(erasures).where(eq(erasures.tenantId, tenantId));
      if (!found) throw new OperatorError(`tenant ${tenantId} was not erased`);
      const { requestedAt, finishedAt, report } = found;
      const left = Object.values(await rowsLeft(db, tenantId)).reduce((sum, count) => sum + count, 0);
      const times = { requestedAt: requestedAt.toISOString(), finishedAt: finishedAt?.toISOString() ?? null };
      return { tenantId, ...times, ...report, rowsLeft: left };
    },
  },
  "workspace create": {
    required: ["tenant"],
    optional: ["repo"],
    run: async (db, flags) => {
      const repo = flags["repo"];
      const made = await createWorkspace(db, { tenantId: flags["tenant"] ?? "", ...(repo !== undefined && { repo }) });
      return { workspaceId: made.workspaceId };
    },
  },
  "workspace list": { required: ["tenant"], optional: [], run: (db, flags) => listWorkspaces(db, tenantOf(flags)) },
  "user create": {
    required: ["email", "tenant"],
    optional: ["role"],
    run: async (db, flags) => {
      const email = checkEmail(flags["email"]);
      const tenantId = tenantOf(flags);
      const given = flags["role"];
      const role = given === undefined ? null : checkRole(given);
      return { ...(await addUser(db, { email, tenantId, role })), email, tenantId };
    },
  },
  "user list": {
    required: [],
    optional: ["tenant"],
    run: (db, flags) => listUsers(db, flags["tenant"] === undefined ? undefined : tenantOf(flags)),
  },
  "key create": creation("api_key"),
  "key list": listing("api_key"),
  "key revoke": revocation("api_key"),
  "token create": creation("worker_token"),
  "token list": listing("worker_token"),
  "token revoke": revocation("worker_token"),
  backup: {
    required: ["to"],
    optional: ["branch", "without-objects"],
    run: async (db, flags) => {
      const folder = path.resolve(flags["to"] ?? "");
      const bucket = flags["without-objects"] === undefined ? await adminBucket(db) : undefined;
      return summary(folder, await backUp(db, { folder, bucket, isBranch: flags["branch"] !== undefined }));
    },
  },
  restore: {
    required: ["from"],
    optional: ["without-objects"],
    run: async (db, flags) => {
      const folder = path.resolve(flags["from"] ?? "");
      const bucket = flags["without-objects"] === undefined ? await adminBucket(db) : undefined;
      return summary(folder, await restore(db, { folder, bucket }));
    },
  },
  "encryption-key add": keyStep(async (_db, secret) => ({ ENCRYPTION_KEY: addKey(secret) })),
  "encryption-key switch": keyStep(async (_db, secret) => ({ ENCRYPTION_KEY: switchKey(secret) })),
  "encryption-key reseal": keyStep(async (db, secret) => ({ ...(await reseal(db, secret)) })),
  "encryption-key drop": keyStep(async (db, secret) => ({ ENCRYPTION_KEY: await dropKeys(db, secret) })),
};

function summary(folder: string, { createdAt, rows, objects }: Manifest): Row {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  return { folder, createdAt, rows: total, objects: Object.keys(objects).length };
}

/**
 * The bucket that `SNAPSHOTS_S3_URL` names, or that of the service running on `DATA_DIR` if the database is the service's. Throws
 * `OperatorError` if there is neither.
 */
async function adminBucket(db: Db): Promise<Bucket> {
  const { SNAPSHOTS_S3_URL: url, R2_ACCESS_KEY_ID: accessKeyId, R2_SECRET_ACCESS_KEY: secretAccessKey } = process.env;
  if (url && accessKeyId && secretAccessKey) return openBucket({ url, accessKeyId, secretAccessKey });
  const dataDir = readDataDir(process.env);
  const service = readServiceFile(dataDir);
  const none = new OperatorError(
    "no bucket: start the service, set SNAPSHOTS_S3_URL, R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY, or say --without-objects",
  );
  if (service === undefined) throw none;
  const { r2AccessKeyId, r2SecretAccessKey, encryptionKey } = localSecrets(dataDir);
  if ((await savedCredentialKey(db)) !== deriveCredentialKey(encryptionKey)) throw none;
  return openBucket({
    url: localBucketUrl(service.apiUrl),
    accessKeyId: r2AccessKeyId,
    secretAccessKey: r2SecretAccessKey,
  });
}

/** A step of a rotation; `secret` is the value that the Workers have. */
function keyStep(run: (db: Db, secret: string) => Promise<Row>): Command {
  return {
    required: [],
    optional: [],
    run: async (db) => {
      const secret = process.env["ENCRYPTION_KEY"];
      if (!secret) throw new UsageError(`set ENCRYPTION_KEY to the value that the Workers have, ${KEY_PLACES}`);
      return run(db, secret);
    },
  };
}

function creation(kind: CredentialKind): Command {
  return {
    required: ["tenant", "name"],
    optional: ["expires", "repos", "scopes", "monthly-credits", "rate"],
    run: async (db, flags) => {
      const expiresAt = readTime(flags["expires"]);
      const input = {
        restrictions: readRestrictions(flags),
        tenantId: flags["tenant"] ?? "",
        name: flags["name"] ?? "",
        kind,
        ...(expiresAt && { expiresAt }),
      };
      const { id, value } = await createKey(db, input);
      return kind === "api_key" ? { keyId: id, apiKey: value } : { tokenId: id, workerToken: value };
    },
  };
}

function listing(kind: CredentialKind): Command {
  return { required: ["tenant"], optional: [], run: (db, flags) => listCredentials(db, tenantOf(flags), kind) };
}

const tenantOf = (flags: Flags): string => checkUuid(flags["tenant"] ?? "", "tenant");

/** What a credential is limited to: `--repos` and `--scopes` are lists with commas. */
function readRestrictions(flags: Flags): Restrictions {
  const lists = { repos: flags["repos"]?.split(","), scopes: flags["scopes"]?.split(",") };
  const numbers = { monthlyCredits: flags["monthly-credits"], ratePerMinute: flags["rate"] };
  const given = {
    ...lists,
    ...Object.fromEntries(
      Object.entries(numbers).map(([name, value]) => [name, value === undefined ? value : Number(value)]),
    ),
  };
  const parsed = Restrictions.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}`);
}

function revocation(kind: CredentialKind): Command {
  return {
    required: ["id"],
    optional: [],
    run: async (db, flags) => {
      const id = flags["id"] ?? "";
      await revokeKey(db, { id, kind });
      return { [kind === "api_key" ? "keyId" : "tokenId"]: id, revoked: true };
    },
  };
}

/** An ISO 8601 date or time, or a number of days from now such as `90d`. */
function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const time = days === undefined ? new Date(text) : new Date(Date.now() + Number(days) * 86_400_000);
  if (Number.isNaN(time.getTime()))
    throw new UsageError("--expires: expected a date such as 2027-01-31, or days such as 90d");
  return time;
}

function tenantValues(flags: Flags): { monthlyCredits?: number; sharedIndex?: boolean } {
  const credits = flags["monthly-credits"];
  const shared = flags["shared-index"];
  if (credits !== undefined && !/^\d+$/.test(credits))
    throw new UsageError("--monthly-credits: expected a whole number");
  if (shared !== undefined && shared !== "on" && shared !== "off")
    throw new UsageError("--shared-index: expected on or off");
  return {
    ...(credits !== undefined && { monthlyCredits: Number(credits) }),
    ...(shared !== undefined && { sharedIndex: shared === "on" }),
  };
}
