import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { sha256 } from "./checksum.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The XDG base directory specification says that a relative path is to be ignored. */
function baseDirectory(env: Environment, variable: string, fallback: string): string {
  const value = env[variable];
  return value !== undefined && isAbsolute(value) ? value : join(env["HOME"] ?? homedir(), fallback);
}

/** Holds the configuration: addresses and credentials. */
export function configDirectory(env: Environment): string {
  return join(baseDirectory(env, "XDG_CONFIG_HOME", ".config"), "codectx");
}

/** Holds the local indexes and broken-off downloads; may be deleted at any time. */
export function cacheDirectory(env: Environment): string {
  return join(baseDirectory(env, "XDG_CACHE_HOME", ".cache"), "codectx");
}

/** Longer names are not taken by every file system. */
const MAX_NAME_CHARACTERS = 120;

/** Folder of the index of what an identity stands for: one for each. */
export function indexDirectory(env: Environment, identity: string): string {
  return join(cacheDirectory(env), "repos", folderName(identity));
}

/**
 * A name for a text, to be read, and a different one for each: also where a file system takes capital letters for small ones or
 * drops a dot at the end.
 */
export function folderName(text: string): string {
  const name = text.replace(/[^a-z0-9._-]|\.$/gu, (character) => {
    if (character === "/") return "+";
    if (/^[A-Z]$/.test(character)) return `!${character.toLowerCase()}`;
    return `%${Buffer.from(character).toString("hex")}%`;
  });
  if (name.length <= MAX_NAME_CHARACTERS) return name;
  // No short name has a tilde.
  return `${name.slice(0, MAX_NAME_CHARACTERS / 2)}~${sha256(Buffer.from(text)).toString("hex")}`;
}
