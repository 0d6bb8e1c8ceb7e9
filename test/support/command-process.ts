/**
 * Process that runs `codectx` commands one after another: a message with a command is answered with what it has printed. For tests of what
 * commands answer; most of the CPU time of a command is the start of its process. `Commands` starts it.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import type * as Main from "../../src/cli/main.ts";

/** A command to run. */
export interface Command {
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** By how much the command's clock is ahead. */
  aheadMs: number;
}

/** What a command has printed, and its exit code. */
export interface Printed {
  exit: number;
  stdout: string;
  stderr: string;
}

const END_TIMEOUT_MS = 60_000;
const folder = mkdtempSync(path.join(os.tmpdir(), "codectx-commands-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** The bundled command's, where there is one: its threads start in a tenth of the time. */
async function loadMain(): Promise<typeof Main.main> {
  const entry = process.env["CODECTX_ENTRY"];
  if (entry === undefined) return (await import("../../src/cli/main.ts")).main;
  const file = /require\(`(.\/main-[\w-]+\.js)`\)/.exec(readFileSync(entry, "utf8"))?.[1];
  if (file === undefined) throw new Error(`${entry} loads no main-….js`);
  return (createRequire(entry)(file) as typeof Main).main;
}

const main = await loadMain();
const now = Date.now;

async function run({ args, cwd, env, aheadMs }: Command): Promise<Printed> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  Date.now = () => now() + aheadMs;
  const [stdout, stderr] = ["stdout", "stderr"].map((name) => path.join(folder, name)) as [string, string];
  const outputs = { stdout: openSync(stdout, "w"), stderr: openSync(stderr, "w") };
  process.exitCode = 0;
  await main(args, outputs);
  await ended();
  // Of the process, which a command does not leave behind otherwise.
  process.removeAllListeners("SIGXFSZ");
  for (const fd of [outputs.stdout, outputs.stderr]) closeSync(fd);
  return { exit: process.exitCode, stdout: readFileSync(stdout, "utf8"), stderr: readFileSync(stderr, "utf8") };
}

/** What keeps the process alive between two commands: its channel, and its outputs once they are streams, which happens here. */
void [process.stdout, process.stderr];
let idle: number | undefined;

/** Resolves when a process of the command's own would end: nothing that the command has started goes on. */
async function ended(): Promise<void> {
  const deadline = performance.now() + END_TIMEOUT_MS;
  while (process.getActiveResourcesInfo().length > (idle ?? 0)) {
    if (performance.now() > deadline) throw new Error(`still there: ${process.getActiveResourcesInfo().join(", ")}`);
    await setTimeout(1);
  }
}

process.on("disconnect", () => process.exit());
process.on("message", (command: Command) => {
  idle ??= process.getActiveResourcesInfo().length;
  void run(command).then((printed) => process.send?.(printed));
});
