import { sha256 } from "./checksum.ts";

/**
 * Hashes of names, such as that of a repository's folder in the cache. What the process before has computed is kept (located-file.ts),
 * because `node:crypto` takes 10 ms to load, and most commands need nothing else of it.
 */
const known = new Map<string, string>();

/** SHA-256 of a name, in hex. */
export function nameHash(name: string): string {
  let hash = known.get(name);
  if (hash === undefined) known.set(name, (hash = sha256(Buffer.from(name)).toString("hex")));
  return hash;
}

/** Takes hashes that another process has computed. */
export function knowNameHashes(hashes: Readonly<Record<string, string>>): void {
  for (const [name, hash] of Object.entries(hashes)) known.set(name, hash);
}
