/**
 * Process that runs `codectx` commands one after another: a message with the arguments is answered with what the command has printed. For
 * tests of what commands answer; half of the CPU time of a command is the start of its process.
 */
import { main } from "../../src/cli/main.ts";

/** What a command has printed, and its exit code. */
export interface Printed {
  exit: number;
  stdout: string;
  stderr: string;
}

/** Takes what is written to a stream from now on; the result returns it. */
function capture(stream: NodeJS.WriteStream): () => string {
  const parts: Buffer[] = [];
  const write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    parts.push(Buffer.from(chunk as string));
    const written = rest.at(-1);
    if (typeof written === "function") written();
    return true;
  };
  stream.write = write;
  return () => Buffer.concat(parts).toString();
}

async function run(args: readonly string[]): Promise<Printed> {
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  process.exitCode = 0;
  await main(args);
  // Of the process, which a command does not leave behind otherwise.
  process.stdout.removeAllListeners("error");
  process.removeAllListeners("SIGXFSZ");
  return { exit: process.exitCode, stdout: stdout(), stderr: stderr() };
}

process.on("message", (args: readonly string[]) => {
  void run(args).then((printed) => process.send?.(printed));
});
