/** Zod schemas of question parameters, as each face takes them. */
import * as z from "zod";
import type { Parameter, Parameters, Request } from "./questions.ts";
import { numberParameter, text } from "./text.ts";

type Shape<P extends Parameters> = { [N in keyof P & string]: z.ZodType<Request<P>[N & keyof Request<P>]> };

/** Schemas of the fields of a JSON body or a tool's arguments. `on` leaves out what that face does not take. */
export function bodyShape<P extends Parameters>(parameters: P): Shape<P> {
  return shapeOf(parameters, bodyValue);
}

/** As `bodyShape`, with the bounds of tools. */
export function toolShape<P extends Parameters>(parameters: P): Shape<P> {
  return shapeOf(parameters, (parameter) =>
    bodyValue(parameter.type === "text" ? { ...parameter, max: parameter.toolMax ?? parameter.max } : parameter),
  );
}

/** Schemas of the parameters of a query string; numbers are decimal digits. Throws `TypeError` for lists, which no query has. */
export function queryShape<P extends Parameters>(parameters: P): Shape<P> {
  return shapeOf(parameters, (parameter) => {
    if (parameter.type === "number") return numberParameter(parameter.min, parameter.max);
    if (parameter.type === "text" || parameter.type === "choice") return bodyValue(parameter);
    throw new TypeError(`a query string cannot hold ${parameter.type}`);
  });
}

function shapeOf<P extends Parameters>(parameters: P, valueOf: (parameter: Parameter) => z.ZodType): Shape<P> {
  const shape = Object.entries(parameters).map(([name, parameter]) => [name, finished(parameter, valueOf(parameter))]);
  return Object.fromEntries(shape) as Shape<P>;
}

function finished(parameter: Parameter, value: z.ZodType): z.ZodType {
  const { description, required } = parameter;
  if (parameter.type === "number" && parameter.default !== undefined)
    return value.default(parameter.default).describe(description);
  return (required ? value : value.optional()).describe(description);
}

function bodyValue(parameter: Parameter): z.ZodType {
  switch (parameter.type) {
    case "text":
      return bounded(parameter.isVerbatim ? text : text.trim(), parameter.max);
    case "texts":
      return z.array(bounded(text, parameter.max)).max(parameter.maxItems);
    case "choice":
      return z.enum(parameter.values);
    case "choices":
      return z.array(z.enum(parameter.values)).max(parameter.values.length);
    case "number":
      return z.int().min(parameter.min).max(parameter.max);
    case "flag":
      return z.boolean();
  }
}

function bounded(schema: z.ZodString, max: number) {
  return schema.min(1, "must not be empty").max(max);
}
