/**
 * workerd survives the death of its parent and would keep its ports. The guard is a shell that reads a pipe from this
 * process: if the pipe closes without a message, this process has died and the guard ends its children.
 */
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const SCRIPT = `read -r word; [ "$word" = done ] || kill -9 "$@" 2>/dev/null`;

/** Guards the children of this process with this program name; the returned function stops guarding them. */
export function guardChildren(program: string): () => void {
  const pids = childrenOf(process.pid, program);
  if (pids.length === 0) return () => undefined;
  const guard = spawn("/bin/sh", ["-c", SCRIPT, "guard", ...pids.map(String)], {
    stdio: ["pipe", "ignore", "ignore"],
    // In a separate process group; otherwise Ctrl-C would end the guard as well.
    detached: true,
  });
  guard.on("error", () => undefined);
  guard.stdin.on("error", () => undefined);
  guard.unref();
  return () => guard.stdin.end("done\n");
}

function childrenOf(parent: number, program: string): number[] {
  return listProcesses().flatMap((entry) => (entry.parent === parent && entry.program === program ? [entry.pid] : []));
}

interface ProcessEntry {
  pid: number;
  parent: number;
  program: string;
}

function listProcesses(): ProcessEntry[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? fromProc(name) : []));
  } catch {
    return fromPs();
  }
}

function fromProc(pid: string): ProcessEntry[] {
  try {
    const [, program = "", parent = ""] =
      /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return [{ pid: Number(pid), parent: Number(parent), program }];
  } catch {
    return []; // it has ended meanwhile
  }
}

function fromPs(): ProcessEntry[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,comm="], { encoding: "utf8" }).split("\n");
  return lines.flatMap((line) => {
    const [, pid, parent, program = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined
      ? []
      : [{ pid: Number(pid), parent: Number(parent), program: program.split("/").at(-1) ?? "" }];
  });
}
