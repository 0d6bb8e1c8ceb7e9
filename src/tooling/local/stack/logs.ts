import { createWriteStream, mkdirSync, renameSync, statSync } from "node:fs";
import { once } from "node:events";
import path from "node:path";

/** Sink for the Workers' console output. */
export interface LogSink {
  write(line: string): void;
  close(): Promise<void>;
}

const MAX_LOG_BYTES = 32 * 1024 * 1024;

/** A sink into `<folder>/workers.log` (the previous file is kept once it is large), or onto stdout without a folder. */
export function createLogSink(folder: string | undefined): LogSink {
  if (folder === undefined) {
    return { write: (line) => process.stdout.write(`${line}\n`), close: () => Promise.resolve() };
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, "workers.log");
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
  const stream = createWriteStream(file, { flags: "a", mode: 0o600 });
  // A full disk must not end the service.
  stream.on("error", () => stream.destroy());
  return {
    write: (line) => void stream.write(`${line}\n`),
    close: async () => {
      if (stream.destroyed) return;
      stream.end();
      await Promise.race([once(stream, "close"), once(stream, "error").catch(() => undefined)]);
    },
  };
}
