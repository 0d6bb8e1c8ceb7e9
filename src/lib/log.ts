/** Fields of a log line. Each event is one JSON line on the console. Fields must not hold secrets or tenant content. */
export type LogFields = Record<string, string | number | boolean | null | undefined>;

export interface Logger {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, error: unknown, fields?: LogFields): void;
  /** A logger that adds these fields to every line. */
  with(fields: LogFields): Logger;
}

const SECRET =
  /\b(cc_(?:live|wrk)_[0-9A-Za-z]+_)[0-9A-Za-z]+|(:\/\/[^\s/:@]*:)[^\s/@]+@|(\b(?:Bearer|Basic)\s+)[\w.~+/=-]+/g;

/** Masks our credentials, user info in URLs and Authorization values. A safety net: callers must not log secrets in the first place. */
function maskSecrets(text: string): string {
  return text.replace(SECRET, (_match, key?: string, url?: string, scheme?: string) =>
    key !== undefined ? `${key}***` : url !== undefined ? `${url}***@` : `${scheme ?? ""}***`,
  );
}

/** Creates a logger; `write` receives complete lines. */
export function createLogger(
  base: LogFields = {},
  write: (line: string) => void = (line) => console.log(line),
): Logger {
  const emit = (level: string, event: string, fields: LogFields = {}) =>
    write(maskSecrets(JSON.stringify({ time: new Date().toISOString(), level, event, ...base, ...fields })));
  return {
    info: (event, fields) => emit("info", event, fields),
    warn: (event, fields) => emit("warn", event, fields),
    error: (event, error, fields) => emit("error", event, { ...fields, ...describeError(error) }),
    with: (fields) => createLogger({ ...base, ...fields }, write),
  };
}

/**
 * The loggable part of an error: its name and message, and the names and codes of its causes. Omits the SQL and parameters
 * that drizzle puts into messages.
 */
function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error === "string" ? error.slice(0, 300) : typeof error };
  const names: string[] = [];
  for (let current: unknown = error; current instanceof Error && names.length < 5; current = current.cause) {
    const isQuery = current.name === "DrizzleQueryError" || current.message.startsWith("Failed query");
    const code = "code" in current && typeof current.code === "string" ? `[${current.code}]` : "";
    names.push(`${current.name}${code}: ${isQuery ? "failed query" : current.message.slice(0, 300)}`);
  }
  return { error: names.join(" ← "), stack: framesOf(error) };
}

/** The first frames of an error's stack, which begins with its message: drizzle's has lines of SQL and parameters. */
function framesOf({ stack = "", message }: Error): string {
  const end = stack.indexOf(message) + message.length;
  const frames = stack.slice(end).split("\n");
  return frames
    .filter((line) => line.startsWith("    at "))
    .slice(0, 3)
    .join(" | ");
}
