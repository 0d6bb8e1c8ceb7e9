import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { OperatorError } from "../../errors.ts";

/** Secrets of a data directory, generated once and reused at every start. */
const LocalSecrets = z.object({
  databasePassword: z.string(),
  /** 256 bits in base64; encrypts stored credentials. */
  encryptionKey: z.string(),
  r2AccessKeyId: z.string(),
  r2SecretAccessKey: z.string(),
});
export type LocalSecrets = z.infer<typeof LocalSecrets>;

/** A folder with this file is a data directory. */
export const SECRETS_FILE = "secrets.json";
/** The demo tenant's credentials, written at the end of the first start. */
export const CREDENTIALS_FILE = "credentials.json";

/** The secrets of a data directory (which must exist); generated at first use, readable only by the owner. */
export function localSecrets(dataDir: string): LocalSecrets {
  const file = path.join(dataDir, SECRETS_FILE);
  if (existsSync(file)) {
    const secrets = LocalSecrets.safeParse(parseJson(readFileSync(file, "utf8")));
    if (secrets.success) return secrets.data;
    const [issue] = secrets.error.issues;
    const reason = [...(issue?.path ?? []), issue?.message].join(": ");
    throw new OperatorError(`${file} is damaged (${reason}): restore it or use another DATA_DIR`);
  }
  const secrets = newSecrets();
  writePrivateJson(file, secrets);
  return secrets;
}

/** A new set of secrets, for a temporary stack. */
export function newSecrets(): LocalSecrets {
  return {
    databasePassword: randomBytes(24).toString("base64url"),
    encryptionKey: randomBytes(32).toString("base64"),
    r2AccessKeyId: randomBytes(16).toString("hex"),
    r2SecretAccessKey: randomBytes(32).toString("hex"),
  };
}

/** Atomically writes a file that only the owner can read. */
export function writePrivateJson(file: string, value: unknown): void {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

/** Undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
