/** The secrets of a GitHub App, as its row has them. */
import { unseal } from "../../lib/seal.ts";

export interface AppSecrets {
  /** See `readPrivateKey`. */
  privateKey: string;
  webhookSecret: string;
}

/** Binds the sealed secrets to their App. */
export const appSecretPurpose = (id: string): string => `github-app:${id}`;

/** Unseals the secrets of an App. */
export async function openApp(
  encryptionKey: string,
  { id, sealedSecret }: { id: string; sealedSecret: string },
): Promise<AppSecrets> {
  return JSON.parse(await unseal(encryptionKey, appSecretPurpose(id), sealedSecret)) as AppSecrets;
}
