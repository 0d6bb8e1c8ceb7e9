/** A failure to start that the person who started it can mend: its message is one line and says how. */
export class StartError extends Error {
  override readonly name = "StartError";

  static portTaken(port: number, variable = "PORT"): StartError {
    return new StartError(`port ${port} is in use: stop what listens there or set ${variable} to a free port`);
  }
}

/** Code of a failed system call (`EADDRINUSE`), where there is one. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
