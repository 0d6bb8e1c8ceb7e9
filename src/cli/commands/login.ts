import { text as readAll } from "node:stream/consumers";
import { configFile, readConfig, writeConfig } from "../machine/config.ts";
import { CodeContextError } from "../../interface/client/errors.ts";
import { apiUrlOf, createClient, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";

interface LoginOptions {
  /** `-` reads the key from stdin. */
  key?: string;
  workerToken?: string;
}

/** Checks a key with the service and stores it, readable for this user only. */
export async function login(context: Context, options: LoginOptions): Promise<void> {
  const apiUrl = apiUrlOf(context);
  const apiKey = (await keyFrom(context, options, apiUrl)).trim();
  if (apiKey === "") throw new CliError(EXIT.usage, "NO_KEY", "the key is empty");
  // Such a key is not a valid header value; the HTTP stack's message would be unclear.
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new CliError(EXIT.auth, "INVALID_API_KEY", "not an API key: it contains spaces or control characters");
  const client = await createClient(context, { apiUrl, apiKey });
  const { fingerprint, dimension } = await client.checkEmbed({ signal: context.stop }).catch((error: unknown) => {
    throw wrongAddress(error, apiUrl) ?? error;
  });
  const config = readConfig(context.env);
  const service = {
    ...config.services[apiUrl],
    apiKey,
    ...(options.workerToken === undefined ? {} : { workerToken: options.workerToken }),
  };
  writeConfig(context.env, { ...config, apiUrl, services: { ...config.services, [apiUrl]: service } });
  const file = configFile(context.env);
  context.ui.result(
    { apiUrl, fingerprint, dimension, configFile: file },
    () => `Logged in to ${apiUrl}. The key is in ${file}.`,
  );
}

/** The error for an address that answers, but not as the api does: the site's, for instance, or that of a proxy's page. */
function wrongAddress(error: unknown, apiUrl: string): CliError | undefined {
  if (!(error instanceof CodeContextError) || (error.code !== "NOT_FOUND" && error.code !== "BAD_RESPONSE")) return;
  const message = `${apiUrl} is not the address of a service's api (${error.message}); at the site's address it is <site>/api/v1`;
  return new CliError(EXIT.unavailable, error.code, message);
}

async function keyFrom(context: Context, options: LoginOptions, apiUrl: string): Promise<string> {
  if (options.key === "-") return readAll(process.stdin);
  if (options.key !== undefined) return options.key;
  const fromEnvironment = context.env["CODECTX_API_KEY"];
  if (fromEnvironment) return fromEnvironment;
  if (!context.ui.interactive) {
    throw new CliError(
      EXIT.usage,
      "NO_KEY",
      "no terminal to ask for the key: pass `--key -` and the key on stdin, or set CODECTX_API_KEY",
    );
  }
  const { isCancel, password } = await import("@clack/prompts");
  const answer = await password({ message: `API key for ${apiUrl}`, output: process.stderr, signal: context.stop });
  if (isCancel(answer)) throw new CliError(EXIT.interrupted, "ABORTED", "login was cancelled");
  return answer;
}

/** Deletes the stored credentials of a service, or of all. */
export function logout(context: Context, options: { all?: boolean }): void {
  const config = readConfig(context.env);
  const apiUrl = apiUrlOf(context, config);
  const { apiUrl: _, ...rest } = config;
  const { [apiUrl]: current, ...others } = config.services;
  const removed = options.all ? Object.keys(config.services) : current ? [apiUrl] : [];
  if (removed.length > 0) writeConfig(context.env, { ...rest, services: options.all ? {} : others });
  context.ui.result({ removed }, () =>
    removed.length > 0 ? `Logged out of ${removed.join(", ")}.` : `Not logged in to ${apiUrl}.`,
  );
}
