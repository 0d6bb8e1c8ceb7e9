import { type Command, InvalidArgumentError } from "commander";
import type { Context } from "../context.ts";

/** Wraps an action for commander. A command's code is loaded when it runs. */
export type Run = <A extends unknown[]>(
  action: (context: Context, ...args: A) => void | Promise<void>,
) => (...args: [...A, Command]) => Promise<void>;

export type AddCommand = (program: Command, run: Run) => void;

/** Parses an option's value as a whole number of at least 1. */
export function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError("must be a whole number from 1 to 999999.");
  return Number(value);
}

/** Collects the values of a repeatable option. */
export function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

export const examples = (...lines: string[]): string => `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
