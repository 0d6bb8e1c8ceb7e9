import { spawn } from "node:child_process";
import type { Context } from "./context.ts";

/** `less` ends at once where all fits on the screen, shows colours and links, and leaves its text there. */
const LESS_OPTIONS = "FRX";

/** Writes the result of a command; on a terminal by way of the pager (PAGER, else `less`) where it is longer than the screen. */
export async function showPaged(
  context: Context,
  document: Record<string, unknown>,
  human: () => readonly string[],
): Promise<void> {
  const { ui, env } = context;
  const lines = ui.terminal ? human() : [];
  const pager = env["CODECTX_PAGER"] ?? env["PAGER"] ?? "less";
  const fits = lines.flatMap((line) => line.split("\n")).length < (process.stdout.rows || 24);
  if (!ui.terminal || fits || pager === "" || pager === "cat" || env["TERM"] === "dumb") {
    ui.result(document, ui.terminal ? () => lines : human);
    return;
  }
  if (!(await page(pager, ui.renderedLines(lines), env))) ui.result(document, () => lines);
}

/** False where the pager cannot be started. */
function page(pager: string, text: string, env: Context["env"]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(pager, {
      shell: true,
      stdio: ["pipe", "inherit", "inherit"],
      env: { ...process.env, LESS: env["LESS"] ?? LESS_OPTIONS },
    });
    child.on("error", () => resolve(false));
    // 127: the shell found no such program.
    child.on("close", (code) => resolve(code !== 127));
    // Whoever has seen enough closes the pipe.
    child.stdin.on("error", () => undefined);
    child.stdin.end(text);
  });
}
