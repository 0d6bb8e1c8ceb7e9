import { existsSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { mayBeInGit } from "../git/git.ts";
import { pathWithin } from "../machine/platform.ts";
import type { Environment } from "../machine/paths.ts";

/** Variables in which hosts pass the project's folder: Claude Code one, Cursor all of the window, separated by commas. */
const VARIABLES = ["CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS"];
/** Folders of one workspace that are served. */
const MAX_FOLDERS = 16;
/** Files that a plugin's folder has, one of them. */
const PLUGIN_FILES = ["plugin.json", "gemini-extension.json", ".claude-plugin/plugin.json"];
const PLUGIN_NAME = "code-context";

/** Folders that the host names in the environment; those that do not exist are left out. */
export function foldersInEnvironment(env: Environment): string[] {
  for (const name of VARIABLES) {
    const value = env[name] ?? "";
    const folders = isFolder(value) ? [value] : value.split(",").map((folder) => folder.trim());
    const existing = folders.filter(isFolder).slice(0, MAX_FOLDERS);
    if (existing.length > 0) return existing;
  }
  return [];
}

/** The folders among the roots of an MCP client; those that do not exist here are left out. */
export function foldersOfRoots(roots: readonly { uri: string }[]): string[] {
  const folders = roots.flatMap(({ uri }) => {
    try {
      return [fileURLToPath(uri)];
    } catch {
      return [];
    }
  });
  return folders.filter(isFolder).slice(0, MAX_FOLDERS);
}

/**
 * The folders to serve, the default first: the current one where it lies in one that the host names, or if the host names none. Throws
 * `CliError` if that is the folder of this plugin, where some hosts start servers.
 */
export function foldersToServe({ cwd }: Pick<Context, "cwd">, named: readonly string[]): string[] {
  const around = named.find((folder) => pathWithin(folder, cwd) !== undefined);
  if (around !== undefined) return [cwd, ...named.filter((folder) => folder !== around)];
  if (named.length > 0) return [...named];
  if (!isPluginFolder(cwd)) return [cwd];
  throw new CliError(
    EXIT.usage,
    "NOT_A_PROJECT",
    `${cwd} is the folder of the plugin, and the agent's host does not say which project it works on: ` +
      "add --repos and the project's folder to the server's arguments, or configure the server with `codectx setup`",
  );
}

function isFolder(path: string): boolean {
  return isAbsolute(path) && existsSync(path) && statSync(path).isDirectory();
}

function isPluginFolder(folder: string): boolean {
  return !mayBeInGit(folder) && PLUGIN_FILES.some((file) => nameIn(join(folder, file)) === PLUGIN_NAME);
}

function nameIn(file: string): unknown {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { name?: unknown }).name;
  } catch {
    return undefined;
  }
}
