import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { StateFile, StateNames } from "./examine-tree.ts";

/** Longer than any work tree takes; the caller then examines the files itself. */
const TIMEOUT_MS = 30_000;

/**
 * {@link examineTree} in a process of its own, while this one searches. A process starts in half the time of a thread of Node's.
 * Undefined also if the process fails.
 */
export function examineTreeBeside({ root, directory, name }: StateFile): Promise<StateNames | undefined> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const program = fileURLToPath(new URL(`./examine-process.${extension}`, import.meta.url));
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, directory, name], {
      cwd: root,
      // The user's options, such as --inspect, are for this process.
      env: { ...process.env, NODE_OPTIONS: "" },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: TIMEOUT_MS,
      windowsHide: true,
    });
    let output = "";
    child.stdout.on("data", (part: Buffer) => (output += part.toString()));
    child.on("error", () => resolve(undefined));
    child.on("close", (code) =>
      resolve(code === 0 ? ((JSON.parse(output) as StateNames | null) ?? undefined) : undefined),
    );
  });
}
