import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { bodyShape } from "../../../src/contract/parameters.ts";
import type { Parameter, Parameters } from "../../../src/contract/questions.ts";
import { buildProgram } from "../../../src/cli/command-line/program.ts";
import { CodeContextClient } from "../../../src/interface/client/client.ts";
import { TOOLS } from "../../../src/interface/mcp/tools.ts";
import { QUESTIONS } from "../../../src/interface/questions/questions.ts";
import { facesOf, optionOf, toolNameOf } from "../../support/faces.ts";

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  default?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
}

interface ApiDescription {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: { in: string; name: string; schema: Schema }[];
        requestBody?: { content: Record<string, { schema: Schema }> };
      }
    >
  >;
  components: { schemas: Record<string, Schema> };
}

/** The generated description; another test compares it with the routes. */
const document = JSON.parse(
  readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8"),
) as ApiDescription;

const program = buildProgram(() => {
  throw new Error("no command runs here");
}, []);
const commandOf = (name: string) => program.commands.find((candidate) => candidate.name() === name);

/** Parameters of a route, from the API description. */
function routeParameters(route: string): Record<string, Schema> {
  const { get, post } = document.paths[route] ?? {};
  if (get) return Object.fromEntries((get.parameters ?? []).map(({ name, schema }) => [name, schema]));
  const reference = post?.requestBody?.content["application/json"]?.schema.$ref?.split("/").at(-1) ?? "";
  return document.components.schemas[reference]?.properties ?? {};
}

/** The faces that a question lacks. */
function missingFaces(name: string): string[] {
  try {
    const { method, route, command } = facesOf(name);
    return [
      ...(document.paths[route]?.[method.toLowerCase()] ? [] : [`the route ${method} ${route}`]),
      ...(commandOf(command) ? [] : [`the command ${command}`]),
      ...(name in CodeContextClient.prototype ? [] : [`the client's method ${name}`]),
    ];
  } catch (error) {
    return [String(error)];
  }
}

/** Where a schema takes a text, a number or a list without a bound. */
function unbounded(given: Schema, at: string): string[] {
  const schema =
    given.$ref === undefined ? given : (document.components.schemas[given.$ref.split("/").at(-1) ?? ""] ?? {});
  const { type, items, properties = {}, anyOf = [], oneOf = [] } = schema;
  const isForm =
    schema.enum !== undefined || "const" in schema || schema.pattern !== undefined || schema.format === "uuid";
  const isText = type === "string" && !isForm && schema.maxLength === undefined;
  const isNumber = type === "integer" || type === "number";
  // Zod's integers end there by themselves.
  const isOpen = isNumber && (schema.maximum ?? Infinity) >= Number.MAX_SAFE_INTEGER;
  const isList = type === "array" && schema.maxItems === undefined;
  return [
    ...(isText || isOpen || isList ? [at] : []),
    ...(items ? unbounded(items, `${at}[]`) : []),
    ...[...anyOf, ...oneOf].flatMap((variant) => unbounded(variant, at)),
    ...Object.entries(properties).flatMap(([name, own]) => unbounded(own, `${at}.${name}`)),
  ];
}

describe.each(Object.values(QUESTIONS))("the question $name", ({ name, parameters }) => {
  it("has a route, a method of the client, a command, and a tool unless the page says why not", () => {
    expect(missingFaces(name)).toEqual([]);
  });

  it("takes nothing without a bound", () => {
    for (const [own, schema] of Object.entries(routeParameters(facesOf(name).route)))
      expect(unbounded(schema, own)).toEqual([]);
  });

  it.each(Object.entries<Parameter>(parameters))("takes %s everywhere, with the same bounds", (own, parameter) => {
    const { route, tool, command } = facesOf(name);
    const described = routeParameters(route)[own];
    expect(described, `the parameter ${own} of ${route}`).toBeDefined();
    if (parameter.type === "number") {
      expect(described).toMatchObject({ type: "integer", minimum: parameter.min, maximum: parameter.max });
      expect(described?.default).toBe(parameter.default);
    }
    if (parameter.type === "text") expect(described?.maxLength).toBe(parameter.max);
    if (tool && !parameter.notOn?.includes("tool"))
      expect(Object.keys(tool.input.shape)).toContain(name === "definition" ? "at" : toolNameOf(own, parameter));
    const isOption = !parameter.required && !parameter.argument && !parameter.notOn?.includes("cli");
    if (isOption) expect(commandOf(command)?.options.map(({ long }) => long)).toContain(optionOf(own, parameter));
  });
});

it.each(TOOLS)("the tool $name takes nothing without a bound", ({ name, input }) => {
  expect(unbounded(z.toJSONSchema(input, { io: "input" }) as Schema, name)).toEqual([]);
});

it("no route takes a query parameter without a bound", () => {
  const operations = Object.entries(document.paths).flatMap(([route, methods]) =>
    Object.values(methods).map(({ parameters = [] }) => ({
      route,
      parameters: parameters.filter((own) => own.in === "query"),
    })),
  );
  expect(operations.flatMap(({ parameters }) => parameters).length).toBeGreaterThan(20);
  for (const { route, parameters } of operations)
    expect(parameters.flatMap(({ name, schema }) => unbounded(schema, `${route} ${name}`))).toEqual([]);
});

/** Numbers of which larger ones are taken too, and what is taken because other services take it. */
const OPEN = [
  "/index body.options.maxFileSizeBytes",
  ...["dimensions", "user"].map((name) => `/v1/embeddings body.${name}`),
  ...["/v1/embed", "/v2/embed"].flatMap((route) =>
    ["output_dimension", "truncate", "max_tokens"].map((name) => `${route} body.${name}`),
  ),
  "/v1/rerank body.top_n",
];

it("no route takes a body with a field without a bound", () => {
  const bodies = Object.entries(document.paths).flatMap(([route, { post }]) => {
    const schema = post?.requestBody?.content["application/json"]?.schema;
    return schema ? [{ route, schema }] : [];
  });
  expect(bodies.length).toBeGreaterThan(10);
  const found = bodies.flatMap(({ route, schema }) => unbounded(schema, `${route} body`));
  expect(new Set(found)).toEqual(new Set(OPEN));
});

describe("a planted violation is noticed:", () => {
  it("a question without faces", () => {
    expect(missingFaces("planted")).toEqual([expect.stringContaining("the table of faces lacks planted")]);
  });

  it.each([
    ["a text", { type: "text", description: "" }],
    ["a list", { type: "texts", max: 10, description: "" }],
    ["a list of unbounded texts", { type: "texts", maxItems: 3, description: "" }],
    ["a number", { type: "number", min: 1, description: "" }],
  ])("a parameter that is %s without a bound", (_, parameter) => {
    const planted = { planted: parameter } as unknown as Parameters;
    const schema = z.toJSONSchema(z.object(bodyShape(planted)), { io: "input" }) as Schema;
    expect(unbounded(schema, "body")).toEqual([expect.stringMatching(/^body\.planted/)]);
  });
});
