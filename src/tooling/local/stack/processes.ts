/** Identifies processes, so that a later one with the same id is not mistaken for an earlier one. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

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
