import { type Command, InvalidArgumentError } from "commander";
import type { Context } from "../context.ts";

/** Turns an action into what commander calls. Each command's code is loaded when it runs. */
export type Run = <A extends unknown[]>(
  action: (context: Context, ...args: A) => void | Promise<void>,
) => (...args: [...A, Command]) => Promise<void>;

export type AddCommand = (program: Command, run: Run) => void;

/** Value of an option that is a whole number from 1. */
export function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError("must be a whole number from 1 to 999999.");
  return Number(value);
}

/** Values of an option that may be repeated. */
export function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

export const examples = (...lines: string[]): string => `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
