/** The JSON Schema of a tool's parameters as clients list it, without what only takes room in every agent's context. */
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import * as z from "zod";

/** Shorter lengths, longer lists and larger numbers are passed only by mistake. The server refuses them all the same, and names them. */
const MIN_LISTED_LENGTH = 10_000;
const MAX_LISTED_NUMBER = 100_000;

/** A schema that checks what `input` checks, and is listed shorter. */
export function listedSchema<Shape extends z.ZodRawShape>(
  input: z.ZodObject<Shape>,
): StandardSchemaWithJSON<z.input<typeof input>, z.output<typeof input>> {
  const list = (): Record<string, unknown> => {
    const { type, properties, required } = z.toJSONSchema(input, {
      io: "input",
      override: ({ jsonSchema }) => shorten(jsonSchema),
    });
    return { type, properties, ...(required && { required }) };
  };
  return { "~standard": { ...input["~standard"], jsonSchema: { input: list, output: list } } };
}

function shorten(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema.minLength;
  delete schema.maxItems;
  if ((schema.maxLength ?? 0) < MIN_LISTED_LENGTH) delete schema.maxLength;
  if ((schema.maximum ?? 0) > MAX_LISTED_NUMBER) delete schema.maximum;
}
