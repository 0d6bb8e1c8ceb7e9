import { CommanderError } from "commander";
import { visibleLines } from "../lib/display.ts";
import type { Context, GlobalOptions } from "./context.ts";
import { CliError, EXIT, toCliError } from "./exit-codes.ts";
import { allCommands, buildProgram, isHelp, unknownHelpAsCommand } from "./command-line/program.ts";
import { endIfClosed, Output } from "./terminal/output.ts";
import { Ui } from "./terminal/ui.ts";
import { hasFileSizeSignal } from "./machine/platform.ts";

/** After Ctrl-C, paid requests in flight get this long to finish. */
const GRACE_MS = 10_000;

/** File descriptors that a command writes to. */
interface Outputs {
  stdout: number;
  stderr: number;
}

/** Runs `codectx`. Sets the exit code instead of exiting, so that all output is flushed. */
export async function main(args: readonly string[], outputs: Outputs = { stdout: 1, stderr: 2 }): Promise<void> {
  const stdout = new Output(outputs.stdout, () => process.stdout, endIfClosed);
  const stderr = new Output(
    outputs.stderr,
    () => process.stderr,
    () => undefined,
  );
  const makeUi = (global: GlobalOptions): Ui =>
    new Ui({
      json: global.json === true,
      quiet: global.quiet === true,
      color: global.color !== false,
      stdout,
      stderr,
      env: process.env,
    });
  const stop = new AbortController();
  const abort = new AbortController();
  let ui = makeUi({ json: args.includes("--json") });
  const interrupt = (): void => {
    if (stop.signal.aborted) abort.abort();
    stop.abort();
    setTimeout(() => abort.abort(), GRACE_MS).unref();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  // With a handler, a write beyond the limit on file sizes fails with EFBIG; without, it ends the process.
  if (hasFileSizeSignal()) process.on("SIGXFSZ", () => undefined);
  const program = buildProgram((global): Context => {
    ui = makeUi(global);
    return { env: process.env, cwd: currentFolder(), ui, global, stop: stop.signal, abort: abort.signal };
  }, args);
  const writeErr = (text: string): unknown => ui.json || stderr.write(visibleLines(text));
  const writeOut = (text: string): void => stdout.write(text);
  for (const command of allCommands(program)) command.configureOutput({ writeErr, writeOut });
  try {
    await program.parseAsync(unknownHelpAsCommand(args), { from: "user" });
  } catch (error) {
    if (isHelp(error)) return;
    process.exitCode = report(ui, error, args.length === 0);
  } finally {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
  }
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new CliError(EXIT.usage, "NO_FOLDER", "the current folder does not exist any more", { cause });
  }
}

function report(ui: Ui, error: unknown, noCommand: boolean): number {
  if (error instanceof CommanderError) {
    // Commander has already printed its message; only --json still needs one.
    const message = noCommand ? "no command given" : error.message.replace(/^error: /, "").replace(/\s*\n\s*/g, " ");
    if (ui.json) ui.error(new CliError(EXIT.usage, "USAGE", message));
    return EXIT.usage;
  }
  const shown = toCliError(error);
  ui.error(shown);
  if (shown.code === "INTERNAL" && process.env["CODECTX_DEBUG"] && error instanceof Error)
    process.stderr.write(`${error.stack ?? ""}\n`);
  return shown.exit;
}
