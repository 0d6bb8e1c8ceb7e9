import * as z from "zod";

export type JsonSchema = Record<string, unknown>;

/** Converts zod schemas to JSON Schema (draft 2020-12, as in OpenAPI 3.1): named ones become components, the rest stay inline. */
export class SchemaCollector {
  readonly components: Record<string, JsonSchema> = {};

  /** Adds a request (`input`) or response (`output`) schema; returns a reference if it has a name. */
  add(schema: z.ZodType, io: "input" | "output"): JsonSchema {
    const {
      $schema: _dialect,
      $defs = {},
      id,
      ...json
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: "any",
      override: ({ jsonSchema, zodSchema }) => {
        const { def } = zodSchema._zod;
        // Left out by zod where the value is transformed, as numbers of a query string are.
        if (def.type === "default") jsonSchema.default = def.defaultValue;
        open(jsonSchema);
      },
    }) as JsonSchema & {
      $defs?: Record<string, JsonSchema>;
      id?: string;
    };
    for (const [name, { id: _id, ...definition }] of Object.entries($defs)) this.#define(name, definition);
    if (id === undefined) return relink(json) as JsonSchema;
    this.#define(id, json);
    return reference(id);
  }

  #define(name: string, schema: JsonSchema): void {
    const linked = relink(schema) as JsonSchema;
    const known = this.components[name];
    if (known && JSON.stringify(known) !== JSON.stringify(linked)) {
      throw new Error(`the schema ${name} differs between what is sent and what is answered`);
    }
    this.components[name] = linked;
  }
}

export function reference(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

const UUID_PATTERN = /^\^\[0-9a-f\]\{8\}-/;

/**
 * Removes what misleads readers: a ban on additional properties (answers may gain fields), the bounds of a safe integer, and the
 * pattern of UUIDs (which are accepted in either case).
 */
function open(schema: JsonSchema): void {
  if (schema["additionalProperties"] === false) delete schema["additionalProperties"];
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
  // A number in a query string: what it must look like follows from its type.
  if (schema["type"] === "integer") delete schema["pattern"];
  if (typeof schema["pattern"] === "string" && UUID_PATTERN.test(schema["pattern"])) {
    delete schema["pattern"];
    schema["format"] = "uuid";
  }
}

/** Rewrites references to `$defs` as references to the document's components. */
function relink(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relink);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string" ? inner.replace("#/$defs/", "#/components/schemas/") : relink(inner),
    ]),
  );
}
