import { accessSync, constants, rmdirSync, rmSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { apiUrlOf, checkApiUrl, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { type Client, CLIENT_NAMES, CLIENTS, type Server } from "./setup-clients.ts";
import { addEntry, removeEntry, SERVER, type Wanted } from "./setup-edit.ts";
import { type Place, placeOf, readSettings, writeSettings } from "./setup-file.ts";
import { forgetChange, originalText, rememberChange } from "./setup-undo.ts";
import { commandFiles, packageCommand } from "../machine/platform.ts";

export interface SetupOptions {
  /** Configure all projects of the user instead of this one. */
  user?: boolean;
  /** Write without asking. */
  yes?: boolean;
  /** The service instead of the work tree; the client takes the key from the environment. */
  remote?: boolean;
  /** Address of an MCP endpoint that the client signs in to. */
  oauth?: string;
  /** Take back what setup wrote. */
  undo?: boolean;
}

/** Variable that a client reads the key from, so that no file holds it. */
const KEY_VARIABLE = "CODECTX_API_KEY";

/**
 * `codectx setup <client>`: adds codectx to a client's MCP configuration, after showing the change; with `undo`, takes it back. Throws
 * `UNKNOWN_CLIENT`, `NO_REMOTE`, `NOT_CONFIRMED`, and what `placeOf`, `readSettings` and `addEntry` throw.
 */
export async function setup(context: Context, name: string, options: SetupOptions): Promise<void> {
  const client = Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined;
  if (!client)
    throw new CliError(
      EXIT.usage,
      "UNKNOWN_CLIENT",
      `no client named ${name}: expected one of ${CLIENT_NAMES.join(", ")}`,
    );
  if (options.remote === true && options.oauth !== undefined)
    throw new CliError(EXIT.usage, "BAD_OPTION", "--remote (with a key) and --oauth exclude each other");
  const place = await placeOf(context, client, options.user === true);
  const before = readSettings(place);
  if (options.undo === true) return undo(context, name, client, place, before);
  const server = serverOf(context, options, place);
  const { file } = place;
  const change = addEntry(before, wantedOf(client, place, server));
  const { ui } = context;
  if (!change) {
    ui.result({ client: name, file, written: false, unchanged: true }, () => `${file} has codectx already.`);
    return;
  }
  const { removed, added } = change;
  const isAsked = client.input?.(server) !== undefined;
  if (!ui.json) {
    ui.note(`${before === undefined ? "Creates" : removed.length > 0 ? "Changes" : "Adds to"} ${file}:`);
    for (const line of removed) ui.note(ui.style("red", `- ${line}`));
    for (const line of added) ui.note(ui.style("green", `+ ${line}`));
  }
  await confirm(context, options, "Write it?");
  const folders = writeSettings(place, change.after);
  rememberChange(context.env, { file, before, after: change.after, folders });
  ui.result({ client: name, file, written: true, unchanged: false, replaced: removed.length > 0 }, () => [
    `${file} is written. Restart ${client.title} to use it.`,
    ...(options.remote === true
      ? [
          isAsked
            ? `${client.title} asks for the key; the file does not hold it.`
            : `Set ${KEY_VARIABLE} where ${client.title} starts; the file does not hold the key.`,
        ]
      : []),
  ]);
}

/** Brings back the text before setup if nothing else has changed the file since; otherwise removes the entry alone. */
function undo(context: Context, name: string, client: Client, place: Place, before: string | undefined): void {
  const { ui, env } = context;
  const { file } = place;
  const original = before === undefined ? undefined : originalText(env, file, before);
  const { property } = client;
  const after = before === undefined || original ? original?.text : removeEntry(before, { file, property });
  const isRemoved = original !== undefined || after !== undefined;
  if (original && original.text === undefined) {
    rmSync(file);
    removeEmpty(original.folders ?? []);
  } else if (after !== undefined) writeSettings(place, after);
  forgetChange(env, file);
  ui.result({ client: name, file, written: isRemoved, unchanged: !isRemoved }, () =>
    isRemoved ? `${file} is without codectx. Restart ${client.title}.` : `${file} has no codectx.`,
  );
}

/** Removes empty folders, innermost first. Stops at the first that is not empty or does not exist. */
function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}

function wantedOf(client: Client, place: Place, server: Server): Wanted {
  const { forUser } = place;
  const entry = client.entry(server, forUser);
  if (entry === undefined)
    throw new CliError(EXIT.usage, "NO_REMOTE", client.otherwise ?? `${client.title} takes no remote servers here`);
  // What another installation of codectx wrote starts the same server.
  const same = "url" in server ? [server] : [BY_NAME, BY_NPX, byFile()];
  const forms = same.map((one) => client.entry(one, forUser)).flatMap((form) => [form, { type: "stdio", ...form }]);
  return {
    file: place.file,
    property: client.property,
    entry,
    input: client.input?.(server),
    isSame: (found) => forms.some((form) => isDeepStrictEqual({ ...(found as object) }, form)),
  };
}

function serverOf(context: Context, options: SetupOptions, place: Place): Server {
  if (options.oauth !== undefined) return { url: checkApiUrl(options.oauth) };
  if (options.remote === true) return { url: mcpAddress(apiUrlOf(context)), keyVariable: KEY_VARIABLE };
  if (isInstalled()) return BY_NAME;
  // A project's file is shared with machines where this one's paths do not exist.
  return isNpx() || !place.forUser ? BY_NPX : byFile();
}

const mcpAddress = (apiUrl: string): string => `${apiUrl}${apiUrl.endsWith("/") ? "" : "/"}mcp`;

const BY_NAME = packageCommand(SERVER, ["mcp"]);
const BY_NPX = packageCommand("npx", ["-y", SERVER, "mcp"]);

function byFile(): { command: string; args: string[] } {
  return { command: process.execPath, args: [resolve(process.argv[1] ?? ""), "mcp"] };
}

/** npx runs packages from a cache that it clears, in a folder of this name. */
const isNpx = (): boolean => (process.argv[1] ?? "").split(sep).includes("_npx");

/** Whether codectx is in PATH for other programs too, not only for a script of a package. */
function isInstalled(): boolean {
  const names = commandFiles(SERVER);
  // Not a folder relative to the checkout, which could hold any program of that name.
  const folders = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !resolve(folder).endsWith(join("node_modules", ".bin")));
  return folders.some((folder) => names.some((name) => isExecutable(join(folder, name))));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function confirm(context: Context, { yes }: SetupOptions, message: string): Promise<void> {
  if (yes === true) return;
  if (context.ui.interactive) {
    const prompts = await import("@clack/prompts");
    if ((await prompts.confirm({ message, output: process.stderr, signal: context.stop })) === true) return;
  }
  throw new CliError(EXIT.usage, "NOT_CONFIRMED", "nothing was written; --yes writes it without asking");
}
