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

/** Holds the local indexes and broken-off downloads; may be deleted at any time (`codectx cache clean`). */
export function cacheDirectory(env: Environment): string {
  return join(baseDirectory(env, "XDG_CACHE_HOME", ".cache"), "codectx");
}

/** Holds the folders of the local indexes. */
export function indexesDirectory(env: Environment): string {
  return join(cacheDirectory(env), "repos");
}

/** Folder of the index of an identity: one for each. */
export function indexDirectory(env: Environment, identity: string): string {
  return join(indexesDirectory(env), folderName(identity));
}

/** Characters of an identity that its folder's name shows, and hex digits of its hash that tell folders apart. */
const SHOWN_CHARACTERS = 60;
const HASH_DIGITS = 16;

/** A readable name for an identity (`github.com-owner-repo-1f0c…`), another one for each. */
export function folderName(identity: string): string {
  const words = identity
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .slice(-SHOWN_CHARACTERS)
    .replace(/^[-.]+/, "");
  return `${words}-${sha256(Buffer.from(identity)).toString("hex").slice(0, HASH_DIGITS)}`;
}
