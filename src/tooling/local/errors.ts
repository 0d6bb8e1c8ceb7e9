/** A start-up failure that the user can fix; the message is one line with the cause and the remedy. */
export class StartError extends Error {
  override readonly name = "StartError";

  static portTaken(port: number, variable = "PORT"): StartError {
    return new StartError(`port ${port} is in use: stop what listens there or set ${variable} to a free port`);
  }
}

/** The command line is wrong; the message names the flag. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Code of a failed system call (`EADDRINUSE`), if any. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
