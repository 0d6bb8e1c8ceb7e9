import { type ChildProcess, fork } from "node:child_process";
import type { Command, Printed } from "./command-process.ts";

/** Runs `codectx` commands one after another in one process, which starts with the first of them. */
export class Commands {
  #process: ChildProcess | undefined;
  #last: Promise<unknown> = Promise.resolve();

  run(command: Omit<Command, "aheadMs"> & { aheadMs?: number | undefined }): Promise<Printed> {
    const printed = this.#last.then(() => this.#runNext({ ...command, aheadMs: command.aheadMs ?? 0 }));
    this.#last = printed.catch(() => undefined);
    return printed;
  }

  #runNext(command: Command): Promise<Printed> {
    const child = (this.#process ??= fork(new URL("./command-process.ts", import.meta.url), {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    }));
    return new Promise((resolve, reject) => {
      const fail = (code: number | null) => {
        this.#process = undefined;
        reject(new Error(`${command.args.join(" ")} ended the process of commands (${code})`));
      };
      child.once("exit", fail);
      child.once("message", (printed) => {
        child.off("exit", fail);
        resolve(printed as Printed);
      });
      child.send(command);
    });
  }

  close(): void {
    this.#process?.disconnect();
    this.#process = undefined;
  }
}
