import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { CLIENT_NAMES, CLIENTS } from "./setup-clients.ts";
import { placeOf, readSettings, writeSettings } from "./setup-file.ts";

export interface SetupOptions {
  /** Configure all projects of the user instead of this one. */
  user?: boolean;
  /** Write without asking. */
  yes?: boolean;
}

/** Name of the server in every client's configuration. */
const SERVER = "codectx";

interface Change {
  after: string;
  /** Lines that go: another entry for codectx. */
  removed: string[];
  /** Lines that are new. */
  added: string[];
}

/** `codectx setup <client>`: adds `codectx mcp` to a client's MCP configuration, after showing the change. */
export async function setup(context: Context, name: string, options: SetupOptions): Promise<void> {
  const client = Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined;
  if (!client) throw new CliError(EXIT.usage, "UNKNOWN_CLIENT", `no client named ${name}: ${CLIENT_NAMES.join(", ")}`);
  const place = await placeOf(context, client, options.user === true);
  const { file } = place;
  const before = readSettings(place);
  const change =
    client.property === undefined
      ? tomlChange(file, before)
      : jsonChange(file, before, client.property, client.extra ?? {});
  const { ui } = context;
  if (!change) {
    ui.result({ client: name, file, written: false, unchanged: true }, () => `${file} has codectx already.`);
    return;
  }
  const { removed, added } = change;
  if (!ui.json) {
    ui.note(`${before === undefined ? "Creates" : removed.length > 0 ? "Changes" : "Adds to"} ${file}:`);
    for (const line of removed) ui.note(ui.style("red", `- ${line}`));
    for (const line of added) ui.note(ui.style("green", `+ ${line}`));
  }
  if (!options.yes && !(await confirmed(context))) {
    throw new CliError(EXIT.usage, "NOT_CONFIRMED", "nothing was written; --yes writes it without asking");
  }
  writeSettings(place, change.after);
  ui.result({ client: name, file, written: true, unchanged: false, replaced: removed.length > 0 }, () => [
    `${file} is written. Restart ${client.title} to use it.`,
  ]);
}

/** The command that starts codectx/** The command that starts codectx: its name if it is in PATH, else its file. */
function command(): { command: string; args: string[] } {
  const names = process.platform === "win32" ? ["codectx.cmd"] : ["codectx"];
  // Not a folder relative to the checkout, which could hold any program of that name.
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  const isInPath = folders.some((folder) => names.some((name) => isExecutable(join(folder, name))));
  return isInPath ? BY_NAME : byFile();
}

const BY_NAME = { command: SERVER, args: ["mcp"] };

function byFile(): { command: string; args: string[] } {
  return { command: process.execPath, args: [resolve(process.argv[1] ?? ""), "mcp"] };
}

/** Whether an entry starts this codectx and nothing else: another command, a variable or an argument more makes it another program. */
function isOurs(entry: unknown, extra: Record<string, string>): boolean {
  const ours = [command(), byFile()].flatMap((start) => [start, { type: "stdio", ...start }, { ...extra, ...start }]);
  return ours.some((one) => isDeepStrictEqual(entry, one));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function jsonChange(
  file: string,
  before: string | undefined,
  property: string,
  extra: Record<string, string>,
): Change | undefined {
  const entry = { ...extra, ...command() };
  const snippet = (value: unknown) => JSON.stringify({ [property]: { [SERVER]: value } }, undefined, 2);
  let settings: unknown = {};
  try {
    if (before !== undefined && before.trim() !== "") settings = JSON.parse(before);
  } catch {
    // Possibly JSON with comments, which rewriting the file would lose.
    const added = JSON.stringify({ [property]: { [SERVER]: entry } });
    throw new CliError(EXIT.usage, "NOT_JSON", `${file} is not plain JSON; add this by hand: ${added}`);
  }
  const servers = isObject(settings) ? (settings[property] ?? {}) : undefined;
  if (!isObject(settings) || !isObject(servers))
    throw new CliError(EXIT.usage, "BAD_SETTINGS", `${file}: "${property}" is not an object; nothing was changed`);
  const known = Object.hasOwn(servers, SERVER);
  if (known && isOurs(servers[SERVER], extra)) return undefined;
  const after = { ...settings, [property]: { ...servers, [SERVER]: entry } };
  return {
    after: `${JSON.stringify(after, undefined, 2)}\n`,
    removed: known ? snippet(servers[SERVER]).split("\n") : [],
    added: snippet(entry).split("\n"),
  };
}

/** Whether a line of TOML begins, or sets a part of, the server's table. */
function isTomlEntry(line: string): boolean {
  const bare = line.replace(/[\s"'[]/g, "");
  if (bare.startsWith("mcp_servers=")) return bare.includes(SERVER);
  return [`mcp_servers.${SERVER}`, `${SERVER}=`, `${SERVER}.`].some((start) => bare.startsWith(start));
}

function tomlChange(file: string, before = ""): Change | undefined {
  const linesOf = ({ command: program, args }: ReturnType<typeof command>) => [
    `[mcp_servers.${SERVER}]`,
    // JSON strings are valid TOML strings.
    `command = ${JSON.stringify(program)}`,
    `args = ${JSON.stringify(args)}`,
  ];
  const added = linesOf(command());
  const lines = before.split(/\r?\n/).map((line) => line.trim());
  const at = lines.indexOf(added[0] ?? "");
  const end = lines.findIndex((line, i) => i > at && line.startsWith("["));
  const entry = lines.slice(at, end < 0 ? undefined : end).filter((line) => line !== "" && !line.startsWith("#"));
  const isKnown = at >= 0 && [added, linesOf(byFile())].some((ours) => isDeepStrictEqual(entry, ours));
  const others = isKnown ? [...lines.slice(0, at), ...lines.slice(at + 1)] : lines;
  if (others.some(isTomlEntry)) {
    const text = `${file} has another entry for codectx; replace it by hand: ${added.join(" ")}`;
    throw new CliError(EXIT.usage, "OTHER_ENTRY", text);
  }
  if (isKnown) return undefined;
  const head = before === "" ? "" : `${before.replace(/\n*$/, "")}\n\n`;
  return { after: `${head}${added.join("\n")}\n`, removed: [], added };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function confirmed(context: Context): Promise<boolean> {
  if (!context.ui.interactive) return false;
  const { confirm } = await import("@clack/prompts");
  return (await confirm({ message: "Write it?", output: process.stderr, signal: context.stop })) === true;
}
