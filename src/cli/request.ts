import type { Parameter, Parameters, Request } from "../contract/questions.ts";
import { CliError, EXIT } from "./exit-codes.ts";

/** A question's request: its arguments, and the parameters of the options. Throws a usage error for texts out of bounds. */
export function requestOf<P extends Parameters>(parameters: P, required: object, options: object = {}): Request<P> {
  const given: Record<string, unknown> = { ...options, ...required };
  const request = Object.entries<Parameter>(parameters).flatMap(([name, parameter]) => {
    const value = given[parameter.required || parameter.argument ? name : camelCase(parameter.option ?? name)];
    if (value !== undefined) checkTexts(typedName(name, parameter), parameter, value);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(request) as Request<P>;
}

/** A parameter as its user types it: the name of an argument, or an option. */
export function typedName(name: string, parameter: Parameter): string {
  if (parameter.required || parameter.argument) return name;
  return `--${parameter.option ?? name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** As commander names the value of an option. */
const camelCase = (option: string): string => option.replace(/-./g, (part) => part.slice(1).toUpperCase());

function checkTexts(name: string, parameter: Parameter, value: unknown): void {
  if (parameter.type !== "text" && parameter.type !== "texts") return;
  const texts = (Array.isArray(value) ? value : [value]) as string[];
  const { max } = parameter;
  const fail = (problem: string): never => {
    throw new CliError(EXIT.usage, "USAGE", `${name}: ${problem}`);
  };
  const isVerbatim = parameter.type === "text" && parameter.isVerbatim === true;
  if (texts.some((text) => (isVerbatim ? text : text.trim()) === "")) fail("must not be empty");
  if (texts.some((text) => text.length > max)) fail(`must have at most ${max.toLocaleString("en-US")} characters`);
  if (parameter.type === "texts" && texts.length > parameter.maxItems)
    fail(`must be given at most ${parameter.maxItems} times`);
}
