import { pgErrorCode, isUnreachable } from "../../../service/db/errors.ts";
import { TenancyError } from "../../../service/tenancy/errors.ts";
import { OperatorError, UsageError } from "../../errors.ts";

/** Exit code for wrong usage. */
const EXIT_USAGE = 2;

/** Runs a command; a failure ends the process with one line and code 1 (2 for wrong usage). */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(`error: ${explain(error)}`);
    process.exitCode = error instanceof UsageError ? EXIT_USAGE : 1;
  }
}

function explain(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  if (error instanceof TenancyError) return error.message;
  const code = pgErrorCode(error);
  if (code === "28P01") return "the database refuses the password: check DATABASE_URL";
  if (code !== undefined) return `the database refused a query (SQLSTATE ${code})`;
  if (isUnreachable(error))
    return "the database cannot be reached: is the service running? check DATABASE_URL and DATA_DIR";
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Throws `UsageError` for any argument of a command that takes its settings from the environment alone. */
export function rejectArguments([first]: readonly string[]): void {
  if (first === undefined) return;
  throw new UsageError(
    `unexpected argument "${first}": settings are environment variables, such as PORT=9000 and DATA_DIR=data`,
  );
}
