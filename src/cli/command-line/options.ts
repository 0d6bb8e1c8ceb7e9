import { type Command, InvalidArgumentError, Option } from "commander";
import type { Parameter, Parameters } from "../../contract/questions.ts";
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

/** Adds the options of a question: its parameters besides the arguments, and where to ask. */
export function questionOptions(command: Command, parameters: Parameters): Command {
  for (const [name, parameter] of Object.entries<Parameter>(parameters)) {
    if (parameter.required || parameter.argument || parameter.notOn?.includes("cli")) continue;
    command.addOption(optionOf(parameter.option ?? kebabCase(name), parameter));
  }
  return command
    .option("--ref <ref>", "ask about this branch, tag or commit; the work tree does not change")
    .option("--remote", "ask the hosted indexes instead")
    .option("--edits", "with --remote: ask about the work tree as it is; what differs from the indexed commit is sent")
    .option("--repo <repo>", "with --remote: repository identity (default: that of the work tree, outside of one all)");
}

function optionOf(name: string, parameter: Parameter): Option {
  const { type, description, letter } = parameter;
  const many = type === "texts" || type === "choices" ? "; repeatable" : "";
  const said = description.replaceAll("`", "").replace(/\.$/, "");
  const text = `${said.slice(0, 1).toLowerCase()}${said.slice(1)}${many}`;
  const flags = letter === undefined ? `--${name}` : `-${letter}, --${name}`;
  const option = new Option(type === "flag" ? flags : `${flags} <${PLACEHOLDERS[type] ?? name}>`, text);
  if (type === "choice" || type === "choices") option.choices(parameter.values);
  if (type === "choices") option.argParser(collectOf(parameter.values));
  if (type === "texts") option.argParser(collect);
  if (type === "number") {
    option.argParser(numberIn(parameter.min, parameter.max));
    if (parameter.default !== undefined) option.default(parameter.default);
  }
  return option;
}

/** What stands for an option's value in the help; its own name if absent. */
const PLACEHOLDERS: Partial<Record<Parameter["type"], string>> = { choice: "value", choices: "value", number: "n" };

function collectOf(values: readonly string[]): typeof collect {
  return (value, previous) => {
    if (values.includes(value)) return collect(value, previous);
    throw new InvalidArgumentError(`must be one of ${values.join(", ")}.`);
  };
}

const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function numberIn(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`);
  };
}

/** Collects the values of a repeatable option. */
export function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

export const examples = (...lines: string[]): string => `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
