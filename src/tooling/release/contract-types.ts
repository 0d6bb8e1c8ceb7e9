/**
 * The contract's types as plain TypeScript, for the declarations of `codectx/client`: inferred ones would refer to zod, which the
 * package does not depend on.
 */
import * as z from "zod";
import * as contract from "../../contract/index.ts";

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  id?: string;
  type?: string | string[];
  description?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
}

/** A declaration file with a type for each schema that the contract exports, and the union of its error codes. */
export function contractTypes(): string {
  const types = new Map<string, string>();
  const schemas = Object.entries(contract).flatMap(([name, schema]) =>
    schema instanceof z.ZodType ? [{ name, schema, isSent: name.endsWith("Request") }] : [],
  );
  // Requests first: what they refer to is sent.
  for (const { name, schema, isSent } of schemas.toSorted((a, b) => Number(b.isSent) - Number(a.isSent))) {
    if (types.has(name)) continue;
    // What is sent may leave out fields with a default; what is read has them.
    const io = isSent ? "input" : "output";
    const json = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Schema;
    for (const [id, definition] of Object.entries(json.$defs ?? {})) define(types, id, definition);
    if (json.$ref === undefined) define(types, json.id ?? name, json);
  }
  const codes = Object.keys(contract.ERROR_STATUS).map((code) => JSON.stringify(code));
  return [
    ...types.values(),
    `/** Error codes of the service. */\nexport type ErrorCode = ${codes.join(" | ")};\n`,
  ].join("\n");
}

function define(types: Map<string, string>, name: string, schema: Schema): void {
  const text = `${comment(schema, "")}export type ${name} = ${typeOf(schema, "")};\n`;
  const known = types.get(name);
  if (known !== undefined && known !== text) {
    throw new Error(`the schema ${name} differs between what is sent and what is answered`);
  }
  types.set(name, text);
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return options.map((option) => typeOf(option, indent)).join(" | ");
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part, indent)})`).join(" & ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return `Array<${typeOf(schema.items ?? {}, indent)}>`;
    case "object":
      return objectType(schema, indent);
    case undefined:
      return "unknown";
    default:
      throw new Error(`no TypeScript type for a schema of type ${schema.type}`);
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const others = typeof additionalProperties === "object" ? typeOf(additionalProperties, inner) : undefined;
  if (!properties) return `Record<string, ${others ?? "unknown"}>`;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const type = typeOf(schema, inner);
    const field = required.includes(name) ? `${name}: ${type}` : `${name}?: ${type} | undefined`;
    return `${comment(schema, inner)}${inner}${field};\n`;
  });
  if (others !== undefined) fields.push(`${inner}[field: string]: ${others};\n`);
  return `{\n${fields.join("")}${indent}}`;
}

function comment({ description }: Schema, indent: string): string {
  return description === undefined ? "" : `${indent}/** ${description.replaceAll("*/", "*\\/")} */\n`;
}
