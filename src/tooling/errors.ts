/** A failure that the person at the command line can mend; the message is one line with the cause and the remedy. */
export class OperatorError extends Error {
  override readonly name: string = "OperatorError";

  static portTaken(port: number, variable = "PORT"): OperatorError {
    return new OperatorError(`port ${port} is in use: stop what listens there or set ${variable} to a free port`);
  }
}

/** The command line is wrong; the message names the flag. */
export class UsageError extends OperatorError {
  override readonly name = "UsageError";
}

/** Code of a failed system call (`EADDRINUSE`), if any. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
