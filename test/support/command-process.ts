/**
 * Process that runs `codectx` commands one after another: a message with the arguments is answered with what the command has printed. For
 * tests of what commands answer; half of the CPU time of a command is the start of its process.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { main } from "../../src/cli/main.ts";

/** What a command has printed, and its exit code. */
export interface Printed {
  exit: number;
  stdout: string;
  stderr: string;
}

const folder = mkdtempSync(path.join(os.tmpdir(), "codectx-commands-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

async function run(args: readonly string[]): Promise<Printed> {
  const [stdout, stderr] = ["stdout", "stderr"].map((name) => path.join(folder, name)) as [string, string];
  const outputs = { stdout: openSync(stdout, "w"), stderr: openSync(stderr, "w") };
  process.exitCode = 0;
  await main(args, outputs);
  // Of the process, which a command does not leave behind otherwise.
  process.removeAllListeners("SIGXFSZ");
  for (const fd of [outputs.stdout, outputs.stderr]) closeSync(fd);
  return { exit: process.exitCode, stdout: readFileSync(stdout, "utf8"), stderr: readFileSync(stderr, "utf8") };
}

process.on("disconnect", () => process.exit());
process.on("message", (args: readonly string[]) => {
  void run(args).then((printed) => process.send?.(printed));
});
