/** `npm run admin -- …`: provisions tenants, workspaces and credentials, and keeps their data. */
import { parseArgs } from "node:util";
import { table } from "../../../cli/terminal/ui.ts";
import { visible } from "../../../lib/display.ts";
import { openDb } from "../../../service/db/client.ts";
import { type Command, COMMANDS, type Flags } from "../admin/commands.ts";
import { useEncryptionKey } from "../admin/encryption-key.ts";
import { findDatabase } from "../admin/find-database.ts";
import { MAX_ROWS, type Row } from "../admin/lists.ts";
import { UsageError } from "../../errors.ts";
import { runMain } from "./main.ts";

const HELP = `Usage: npm run admin -- <command> [flags]

  tenant create     --name N [--monthly-credits N] [--shared-index on|off]
  tenant list                                                      the oldest 1,000, as all lists
  tenant set        --tenant ID [--shared-index on|off] [--monthly-credits N]
  tenant export     --tenant ID --to FOLDER [--without-objects]    rows as lines of JSON, and the list of objects
  tenant erase      --tenant ID                                    rows at once, the rest within ten minutes; see tenant erased
  tenant erased     --tenant ID                                    what was removed, and what is left
  workspace create  --tenant ID [--repo URL]
  workspace list    --tenant ID
  user create       --email E --tenant ID [--role owner|admin|member]      a new member is an owner unless given
  user list         [--tenant ID]
  key create        --tenant ID --name N [--expires DATE|90d]      an API key; limited by [--repos A,B] [--scopes A,B]
                    [--monthly-credits N] [--rate N]               (a minute)
  key list          --tenant ID                                    with revoked and expired ones
  key revoke        --id ID
  token create      --tenant ID --name N [--expires DATE|90d]      a worker token; limited as a key
  token list        --tenant ID
  token revoke      --id ID
  backup            --to FOLDER [--branch] [--without-objects]     rows and objects; see docs/operations.md
  restore           --from FOLDER [--without-objects]              replaces everything
  encryption-key    add | switch | reseal | drop                   rotation, step by step; see docs/operations.md

  --json   print the result as one line of JSON
  --help   print this

Works on the database that DATABASE_URL names, or on that of the service on DATA_DIR, running or stopped. The first
credential of a deployed service needs its ENCRYPTION_KEY in the environment.`;

const OPTIONS = {
  email: { type: "string" },
  role: { type: "string" },
  name: { type: "string" },
  tenant: { type: "string" },
  id: { type: "string" },
  expires: { type: "string" },
  repos: { type: "string" },
  scopes: { type: "string" },
  rate: { type: "string" },
  repo: { type: "string" },
  "monthly-credits": { type: "string" },
  "shared-index": { type: "string" },
  to: { type: "string" },
  from: { type: "string" },
  branch: { type: "boolean" },
  "without-objects": { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

function parseCommandLine(args: string[]): { name: string; flags: Flags; json: boolean; help: boolean } {
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS });
    const { json = false, help = false, ...given } = values;
    const flags = Object.fromEntries(Object.entries(given).map(([flag, value]) => [flag, String(value)]));
    return { name: positionals.join(" "), flags, json, help };
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split(". ")[0] ?? error.message) : String(error));
  }
}

function checkFlags(name: string, command: Command, flags: Flags): void {
  for (const flag of command.required) {
    if (flags[flag] === undefined) throw new UsageError(`${name} needs --${flag}`);
  }
  const unknown = Object.keys(flags).find(
    (flag) => !command.required.includes(flag) && !command.optional.includes(flag),
  );
  if (unknown !== undefined) throw new UsageError(`${name} does not take --${unknown}`);
}

await runMain(async () => {
  const { name, flags, json, help } = parseCommandLine(process.argv.slice(2));
  if (help) return console.log(HELP);
  const command = COMMANDS[name];
  if (command === undefined) {
    const all = Object.keys(COMMANDS);
    const ofGroup = all.filter((each) => each.startsWith(`${name.split(" ")[0]} `));
    const commands = (ofGroup.length > 0 ? ofGroup : all).join(", ");
    throw new UsageError(
      name === ""
        ? `a command is needed: ${commands} (see --help)`
        : `unknown command "${name}": expected one of ${commands} (see --help)`,
    );
  }
  checkFlags(name, command, flags);
  const database = await findDatabase(process.env);
  try {
    const db = openDb(database.url);
    const encryptionKey = process.env["ENCRYPTION_KEY"];
    if (encryptionKey) await useEncryptionKey(db, encryptionKey);
    show(await command.run(db, flags), json);
  } finally {
    await database.close();
  }
});

function show(result: Awaited<ReturnType<Command["run"]>>, json: boolean): void {
  if (json) return console.log(JSON.stringify(result));
  if (Array.isArray(result)) return showList(result);
  for (const [key, value] of Object.entries(result)) console.log(`${key.padEnd(14)} ${String(value)}`);
}

function showList(rows: readonly Row[]): void {
  const columns = Object.keys(rows[0] ?? {});
  if (columns.length === 0) return console.log("none");
  const cells = rows.map((row) => columns.map((column) => String(row[column] ?? "-")));
  // Names are chosen by users.
  for (const line of table([columns, ...cells])) console.log(visible(line));
  if (rows.length >= MAX_ROWS) console.log(`(the first ${MAX_ROWS})`);
}
