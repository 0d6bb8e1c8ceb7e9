import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildProgram } from "../../../src/cli/command-line/program.ts";
import { CodeContextClient } from "../../../src/interface/client/client.ts";
import type { Parameter } from "../../../src/contract/questions.ts";
import { TOOLS } from "../../../src/interface/mcp/tools.ts";
import { QUESTIONS } from "../../../src/interface/questions/questions.ts";

/** What the tool and the command of a question are called. */
const NAMES: Readonly<Record<string, { tool: string; command: string }>> = {
  search: { tool: "search_code", command: "search" },
  symbols: { tool: "find_symbol", command: "symbol" },
  references: { tool: "find_references", command: "refs" },
  outline: { tool: "outline", command: "outline" },
  file: { tool: "read_file", command: "read" },
};
interface ApiDescription {
  paths: Record<string, Record<string, { parameters?: { name: string; schema: Described }[]; requestBody?: unknown }>>;
  components: { schemas: Record<string, { properties: Record<string, Described> }> };
}

/** The generated description; another test compares it with the routes. */
const document = JSON.parse(
  readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8"),
) as ApiDescription;

interface Described {
  type?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  default?: unknown;
}

/** Parameters of a question's route, from the API description. */
function routeParameters(name: string): Record<string, Described> {
  const { get, post } = document.paths[`/${name}`] ?? {};
  if (get) return Object.fromEntries((get.parameters ?? []).map(({ name: own, schema }) => [own, schema]));
  const body = post?.["requestBody"] as { content: Record<string, { schema: { $ref: string } }> } | undefined;
  const reference = body?.content["application/json"]?.schema.$ref.split("/").at(-1) ?? "";
  return document.components.schemas[reference]?.properties ?? {};
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const kebabCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

describe.each(Object.values(QUESTIONS))("the question $name", ({ name, parameters }) => {
  const { tool: toolName, command: commandName } = NAMES[name] ?? { tool: "", command: "" };
  const tool = TOOLS.find((candidate) => candidate.name === toolName);
  const program = buildProgram(() => {
    throw new Error("no command runs here");
  }, []);
  const command = program.commands.find((candidate) => candidate.name() === commandName);

  it("has a route, a method of the client, a tool and a command", () => {
    expect(document.paths).toHaveProperty(`/${name}`);
    expect(CodeContextClient.prototype).toHaveProperty(name);
    expect(tool, `the MCP tool of ${name}`).toBeDefined();
    expect(command, `the command of ${name}`).toBeDefined();
  });

  it.each(Object.entries<Parameter>(parameters))("takes %s everywhere, with the same bounds", (own, parameter) => {
    const described = routeParameters(name)[own];
    expect(described, `the parameter ${own} of /${name}`).toBeDefined();
    if (parameter.type === "number") {
      expect(described).toMatchObject({ type: "integer", minimum: parameter.min, maximum: parameter.max });
      expect(described?.default).toBe(parameter.default);
    }
    if (parameter.type === "text") expect(described?.maxLength).toBe(parameter.max);
    if (!parameter.notOn?.includes("tool"))
      expect(Object.keys(tool?.input.shape ?? {})).toContain(parameter.tool ?? snakeCase(own));
    if (!parameter.required && !parameter.notOn?.includes("cli"))
      expect(command?.options.map(({ long }) => long)).toContain(`--${parameter.option ?? kebabCase(own)}`);
  });
});
