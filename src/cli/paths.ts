import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

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
