import { spawn } from "node:child_process";
import type { Context } from "../context.ts";
import { defaultPager, isNoCommand, shellVariables } from "../machine/platform.ts";

/** Options of `less`: exit if the text fits on the screen, show colours and links, leave the text on the screen. */
const LESS_OPTIONS = "FRX";
/** Assumed height of a terminal that does not report one. */
const DEFAULT_ROWS = 24;

/** Writes the result of a command; on a terminal through the pager (PAGER, else the platform's) if it is longer than the screen. */
export async function showPaged(
  context: Context,
  document: Record<string, unknown>,
  human: () => readonly string[],
): Promise<void> {
  const { ui, env } = context;
  const lines = ui.terminal ? human() : [];
  const pager = pagerFor(lines, { isTerminal: ui.terminal, rows: ui.rows, env });
  if (pager === undefined) {
    ui.result(document, ui.terminal ? () => lines : human);
    return;
  }
  if (!(await page(pager, ui.renderedLines(lines), env))) ui.result(document, () => lines);
}

/**
 * The pager for these lines: `CODECTX_PAGER`, else `PAGER`, else the platform's. Undefined if there is no terminal or a dumb one, if
 * everything fits on the screen, and if the user wants none (an empty value or `cat`).
 */
export function pagerFor(
  lines: readonly string[],
  { isTerminal, rows, env }: { isTerminal: boolean; rows: number | undefined; env: Context["env"] },
): string | undefined {
  const pager = env["CODECTX_PAGER"] ?? env["PAGER"] ?? defaultPager();
  const fits = lines.length < (rows || DEFAULT_ROWS);
  return !isTerminal || fits || pager === "" || pager === "cat" || env["TERM"] === "dumb" ? undefined : pager;
}

/** Returns false if the pager cannot be started. */
function page(pager: string, text: string, env: Context["env"]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(pager, {
      shell: true,
      stdio: ["pipe", "inherit", "inherit"],
      env: { ...process.env, ...shellVariables(), LESS: env["LESS"] ?? LESS_OPTIONS },
    });
    child.on("error", () => resolve(false));
    child.on("close", (code) => resolve(!isNoCommand(code)));
    // EPIPE: the user quit the pager.
    child.stdin.on("error", () => undefined);
    child.stdin.end(text);
  });
}
