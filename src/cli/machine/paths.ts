import { homedir } from "node:os";
import path, { join } from "node:path";
import { nameHash } from "./name-hash.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Of a kind of folder: its XDG variable, its place below the home folder, and the variable and place that Windows has for it. */
const BASES = {
  config: { variable: "XDG_CONFIG_HOME", fallback: ".config", windows: ["APPDATA", "AppData/Roaming"] },
  cache: { variable: "XDG_CACHE_HOME", fallback: ".cache", windows: ["LOCALAPPDATA", "AppData/Local"] },
} as const;

/** Relative paths are ignored, as the XDG base directory specification requires. */
function baseDirectory(env: Environment, kind: keyof typeof BASES, platform: string = process.platform): string {
  const { variable, fallback, windows } = BASES[kind];
  const paths = platform === "win32" ? path.win32 : path.posix;
  const value = env[variable];
  if (value !== undefined && paths.isAbsolute(value)) return value;
  if (platform === "win32") return env[windows[0]] ?? paths.join(homeFolder(env, platform), windows[1]);
  return paths.join(homeFolder(env, platform), fallback);
}

/** On Windows `HOME` is a variable of shells that were made for other systems, and may not be a path of Windows. */
function homeFolder(env: Environment, platform: string): string {
  return (platform === "win32" ? env["USERPROFILE"] : env["HOME"]) ?? homedir();
}

/** Directory of the configuration: addresses and credentials. */
export function configDirectory(env: Environment, platform: string = process.platform): string {
  return join(baseDirectory(env, "config", platform), "codectx");
}

/** A folder with the settings of other programs. */
export type SettingsBase = "home" | "config" | "xdg-config" | "application-data";

/**
 * That folder on this platform. `application-data` is where desktop applications keep theirs, `xdg-config` where those do that follow
 * XDG on Windows as well.
 */
export function settingsFolder(env: Environment, base: SettingsBase, platform: string = process.platform): string {
  const home = homeFolder(env, platform);
  if (base === "home") return home;
  if (base === "xdg-config") return env[BASES.config.variable] || join(home, BASES.config.fallback);
  if (base === "application-data" && platform === "darwin") return join(home, "Library", "Application Support");
  return baseDirectory(env, "config", platform);
}

/** Directory of local indexes and partial downloads; may be deleted at any time (`codectx cache clean`). */
export function cacheDirectory(env: Environment, platform: string = process.platform): string {
  return join(baseDirectory(env, "cache", platform), "codectx");
}

/** Cache of git's answers about the folders in which commands were run. */
export function locatedFile(env: Environment): string {
  return join(cacheDirectory(env), "located.json");
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
  return `${words}-${nameHash(identity).slice(0, HASH_DIGITS)}`;
}
