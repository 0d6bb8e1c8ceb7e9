/** Identifies processes, so that a later one with the same id is not mistaken for an earlier one. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import * as z from "zod";
import { errnoOf } from "../../errors.ts";
import { parseJson } from "./local-secrets.ts";

/**
 * Start time of a running process, which distinguishes it from others with the same id. Undefined if there is none; a
 * constant if the system does not provide it.
 */
export function processIdentity(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return undefined;
  }
  return startFromProc(pid) ?? startFromPs(pid) ?? "unknown";
}

const ProcessRecord = z.object({ pid: z.number().int().positive(), identity: z.string() });

/** What a file holds to name a process; `runningProcess` reads it. */
export function processRecord(pid: number): string {
  return JSON.stringify({ pid, identity: processIdentity(pid) });
}

/** Id of the process that a file names; undefined without the file, and if that process has ended. */
export function runningProcess(file: string): number | undefined {
  const record = ProcessRecord.safeParse(parseJson(readIfThere(file) ?? ""));
  return record.success && processIdentity(record.data.pid) === record.data.identity ? record.data.pid : undefined;
}

/** The text of a file; undefined if there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function startFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, in parentheses, may contain any text; the start time is the 20th field after it (proc_pid_stat(5)).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "ended" : fields[19];
  } catch {
    return undefined;
  }
}

function startFromPs(pid: number): string | undefined {
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}
