import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CliError, EXIT } from "../exit-codes.ts";
import { makeFolder } from "./folders.ts";
import { configDirectory, type Environment } from "./paths.ts";
import { replaceFile } from "./replace-file.ts";

interface ServiceConfig {
  apiKey?: string;
  workerToken?: string;
}

export interface Config {
  /** The service of the last login. */
  apiUrl?: string;
  services: Record<string, ServiceConfig>;
  /** Repository identities by git directory, which override the remote (for a fork, for example). */
  repos?: Record<string, string>;
}

export function configFile(env: Environment): string {
  return join(configDirectory(env), "config.json");
}

export function readConfig(env: Environment): Config {
  const file = configFile(env);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { services: {} };
    throw error;
  }
  try {
    const { apiUrl, services, repos } = JSON.parse(text) as Partial<Config>;
    const known = Object.entries(services ?? {}).map(([url, service]) => [withoutUser(url), service] as const);
    return {
      ...(typeof apiUrl === "string" ? { apiUrl: withoutUser(apiUrl) } : {}),
      services: Object.fromEntries(known),
      ...(repos ? { repos } : {}),
    };
  } catch (cause) {
    throw new CliError(EXIT.usage, "BAD_CONFIG", `${file} is not valid JSON; correct or delete it`, { cause });
  }
}

/** Earlier versions stored user and password of an address; the next write leaves them out. */
function withoutUser(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (url.username === "" && url.password === "")) return address;
  url.username = "";
  url.password = "";
  return url.pathname === "/" ? url.origin : url.href;
}

/** Replaces the configuration atomically. Only the user may read it (mode 0600). */
export function writeConfig(env: Environment, config: Config): void {
  const file = configFile(env);
  makeFolder(configDirectory(env));
  replaceFile(file, `${JSON.stringify(config, undefined, 2)}\n`, 0o600);
}
