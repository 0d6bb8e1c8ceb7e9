import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { sha256 } from "./checksum.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Relative paths are ignored, as the XDG base directory specification requires. */
function baseDirectory(env: Environment, variable: string, fallback: string): string {
  const value = env[variable];
  return value !== undefined && isAbsolute(value) ? value : join(env["HOME"] ?? homedir(), fallback);
}

/** Directory of the configuration: addresses and credentials. */
export function configDirectory(env: Environment): string {
  return join(baseDirectory(env, "XDG_CONFIG_HOME", ".config"), "codectx");
}

/** A folder that the operating system gives to the settings of other programs. */
export type SettingsBase = "home" | "config" | "application-data";

/** That folder on this platform. `application-data` is where desktop applications keep theirs. */
export function settingsFolder(env: Environment, base: SettingsBase, platform: string = process.platform): string {
  const home = env["HOME"] ?? homedir();
  if (base === "home") return home;
  if (platform === "win32") return env["APPDATA"] ?? join(home, "AppData", "Roaming");
  if (base === "application-data" && platform === "darwin") return join(home, "Library", "Application Support");
  return baseDirectory(env, "XDG_CONFIG_HOME", ".config");
}

/** Directory of local indexes and partial downloads; may be deleted at any time (`codectx cache clean`). */
export function cacheDirectory(env: Environment): string {
  return join(baseDirectory(env, "XDG_CACHE_HOME", ".cache"), "codectx");
}

/** Directory of the local indexes. */
export function indexesDirectory(env: Environment): string {
  return join(cacheDirectory(env), "repos");
}

/** Directory of the local index of an identity. */
export function indexDirectory(env: Environment, identity: string): string {
  return join(indexesDirectory(env), folderName(identity));
}

/** Length of the readable part of a folder's name; a hash follows. */
const SHOWN_CHARACTERS = 60;
const HASH_DIGITS = 16;

/** A readable and unique folder name for an identity: `github.com-owner-repo-1f0c…`. */
export function folderName(identity: string): string {
  const words = identity
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .slice(-SHOWN_CHARACTERS)
    .replace(/^[-.]+/, "");
  return `${words}-${sha256(Buffer.from(identity)).toString("hex").slice(0, HASH_DIGITS)}`;
}
