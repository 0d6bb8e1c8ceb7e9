import { EXIT } from "../exit-codes.ts";

const MEANING: Record<keyof typeof EXIT, string> = {
  ok: "done",
  failure: "unexpected failure",
  usage: "wrong command line or configuration",
  auth: "no credential, or one that is not accepted",
  notFound: "no such symbol, file, snapshot or workspace",
  limit: "rate limit or quota reached",
  unavailable: "service, storage or network unavailable",
  integrity: "damaged or tampered data",
  busy: "another process or publisher is in the way",
  io: "disk full, read-only or no permission",
  interrupted: "interrupted",
};

/** Exit codes for `--help`; see docs/cli.md for details. */
export const EXIT_CODE_HELP = `Exit codes:\n${Object.entries(EXIT)
  .map(([name, code]) => `  ${String(code).padStart(3)}  ${MEANING[name as keyof typeof EXIT]}`)
  .join("\n")}`;
