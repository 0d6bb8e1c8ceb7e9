import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { PROJECT_ROOT } from "../project.ts";

const TIMEOUT_MS = 300_000;
const QUIET = { WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true", CI: "true", NO_COLOR: "1" };

/** Runs wrangler offline. Rejects with the error of `execFile`, which has its output. */
export async function runWrangler(args: readonly string[]): Promise<void> {
  const folder = path.dirname(createRequire(import.meta.url).resolve("wrangler/package.json"));
  const entry = path.join(folder, "bin", "wrangler.js");
  const env = { ...process.env, ...QUIET };
  await promisify(execFile)(process.execPath, [entry, ...args], { cwd: PROJECT_ROOT, timeout: TIMEOUT_MS, env });
}

/** The line of wrangler's output that states the error. */
export function wranglerComplaint(error: unknown): string {
  const outputs =
    error instanceof Error && "stderr" in error && "stdout" in error ? [error.stderr, error.stdout] : [error];
  const lines = stripVTControlCharacters(outputs.join("\n"))
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  // The first line only counts the errors that follow.
  const cause = lines.find((line) => /error/i.test(line) && !line.includes("Build failed with"));
  return cause ?? lines[0] ?? "wrangler gave no reason";
}
