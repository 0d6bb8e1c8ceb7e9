import type { RunStatus } from "../../../contract/index.ts";

/** Shows the progress of a run: one changing line on a terminal, a line per step elsewhere. */
interface Progress {
  show(status: RunStatus): void;
  /** Ends the changing line. */
  done(): void;
}

const BAR_WIDTH = 24;
/** Percent between two lines if stderr is not a terminal. */
const STEP_PERCENT = 25;

export function createProgress(output: NodeJS.WriteStream): Progress {
  let last = "";
  const write = (line: string) => {
    if (line === last) return;
    output.write(output.isTTY ? `\r\u001b[2K${line}` : `${line}\n`);
    last = line;
  };
  return {
    show: ({ progress, state }) => {
      const { phase, filesDone, filesTotal } = progress;
      const share = filesTotal === 0 ? 0 : filesDone / filesTotal;
      if (output.isTTY) {
        const filled = Math.round(share * BAR_WIDTH);
        write(`  ${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)} ${phase} ${filesDone}/${filesTotal} files`);
      } else {
        const percent = Math.floor((share * 100) / STEP_PERCENT) * STEP_PERCENT;
        write(`  ${state}: ${phase}${filesTotal === 0 ? "" : ` ${percent}% of ${filesTotal} files`}`);
      }
    },
    done: () => {
      if (output.isTTY && last !== "") output.write("\r\u001b[2K");
      last = "";
    },
  };
}
