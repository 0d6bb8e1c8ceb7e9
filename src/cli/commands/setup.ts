import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { findProject } from "../project.ts";
import { type Client, CLIENT_NAMES, CLIENTS } from "./setup-clients.ts";

export interface SetupOptions {
  /** Configure all projects of the user instead of this one. */
  user?: boolean;
  /** Write without asking. */
  yes?: boolean;
}

/** Name of the server in every client's configuration. */
const SERVER = "codectx";

interface Change {
  file: string;
  before: string | undefined;
  after: string;
  /** Lines that are new. */
  added: string[];
}

/** `codectx setup <client>`: adds `codectx mcp` to a client's MCP configuration, after showing the change. */
export async function setup(context: Context, name: string, options: SetupOptions): Promise<void> {
  const client = Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined;
  if (!client) throw new CliError(EXIT.usage, "UNKNOWN_CLIENT", `no client named ${name}: ${CLIENT_NAMES.join(", ")}`);
  const file = await fileOf(context, client, options.user === true);
  const change =
    client.property === undefined ? tomlChange(file) : jsonChange(file, client.property, client.extra ?? {});
  const { ui } = context;
  if (!change) {
    ui.result({ client: name, file, written: false, unchanged: true }, () => `${file} has codectx already.`);
    return;
  }
  if (!ui.json) {
    ui.note(`${change.before === undefined ? "Creates" : "Adds to"} ${file}:`);
    for (const line of change.added) ui.note(ui.style("green", `+ ${line}`));
  }
  if (!options.yes && !(await confirmed(context))) {
    throw new CliError(EXIT.usage, "NOT_CONFIRMED", "nothing was written; --yes writes it without asking");
  }
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, change.after, { mode: 0o600 });
  renameSync(temporary, file);
  ui.result({ client: name, file, written: true, unchanged: false }, () => [
    `${file} is written. Restart ${client.title} to use it.`,
  ]);
}

async function fileOf(context: Context, client: Client, forUser: boolean): Promise<string> {
  const home = context.env["HOME"] ?? homedir();
  if (forUser || client.project === undefined) {
    if (client.user !== undefined) return join(home, client.user);
    throw new CliError(EXIT.usage, "NO_USER_FILE", `${client.title} keeps this in the project: run it without --user`);
  }
  return join((await findProject(context)).root, client.project);
}

/** The command that starts codectx: its name if it is in PATH, else its file. */
function command(): { command: string; args: string[] } {
  const names = process.platform === "win32" ? ["codectx.cmd"] : ["codectx"];
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  if (folders.some((folder) => names.some((name) => isExecutable(join(folder, name)))))
    return { command: SERVER, args: ["mcp"] };
  return { command: process.execPath, args: [resolve(process.argv[1] ?? ""), "mcp"] };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function jsonChange(file: string, property: string, extra: Record<string, string>): Change | undefined {
  const before = readIfThere(file);
  const entry = { ...extra, ...command() };
  const snippet = JSON.stringify({ [property]: { [SERVER]: entry } }, undefined, 2);
  let settings: unknown = {};
  try {
    if (before !== undefined && before.trim() !== "") settings = JSON.parse(before);
  } catch {
    // Possibly JSON with comments, which rewriting the file would lose.
    throw new CliError(
      EXIT.usage,
      "NOT_JSON",
      `${file} is not plain JSON; add this by hand: ${JSON.stringify(JSON.parse(snippet))}`,
    );
  }
  const servers = isObject(settings) ? (settings[property] ?? {}) : undefined;
  if (!isObject(settings) || !isObject(servers))
    throw new CliError(EXIT.usage, "BAD_SETTINGS", `${file}: "${property}" is not an object; nothing was changed`);
  if (Object.hasOwn(servers, SERVER)) return undefined;
  const after = { ...settings, [property]: { ...servers, [SERVER]: entry } };
  return { file, before, after: `${JSON.stringify(after, undefined, 2)}\n`, added: snippet.split("\n") };
}

function tomlChange(file: string): Change | undefined {
  const before = readIfThere(file);
  if (before !== undefined && /^\s*\[\s*mcp_servers\s*\.\s*(?:codectx|"codectx")\s*\]/m.test(before)) return undefined;
  const { command: program, args } = command();
  // JSON strings are valid TOML strings.
  const added = [`[mcp_servers.${SERVER}]`, `command = ${JSON.stringify(program)}`, `args = ${JSON.stringify(args)}`];
  const head = before === undefined || before === "" ? "" : `${before.replace(/\n*$/, "")}\n\n`;
  return { file, before, after: `${head}${added.join("\n")}\n`, added };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

async function confirmed(context: Context): Promise<boolean> {
  if (!context.ui.interactive) return false;
  const { confirm } = await import("@clack/prompts");
  return (await confirm({ message: "Write it?", output: process.stderr, signal: context.stop })) === true;
}
