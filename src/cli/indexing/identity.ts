import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "../project.ts";

export const IDENTITY_FILE = "repository.txt";

/** Writes the repository's identity into its folder of the cache, for the list of the cache. */
export function noteIdentity({ directory, identity }: Pick<Project, "directory" | "identity">): void {
  const file = join(directory, IDENTITY_FILE);
  if (!existsSync(file)) writeFileSync(file, `${identity}\n`, { mode: 0o600 });
}
