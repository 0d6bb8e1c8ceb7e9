import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const IDENTITY_FILE = "repository.txt";

/** Writes the repository's identity into its folder of the cache, for the list of the cache. */
export function noteIdentity({ directory, identity }: { directory: string; identity: string }): void {
  const file = join(directory, IDENTITY_FILE);
  if (!existsSync(file)) writeFileSync(file, `${identity}\n`, { mode: 0o600 });
}
