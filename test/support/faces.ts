/** The faces of every question, and what they answer when nothing is found, as docs/architecture.md says. */
import { readFileSync } from "node:fs";
import type { Parameter, Parameters } from "../../src/contract/questions.ts";
import type { Tool } from "../../src/interface/mcp/tool.ts";
import { TOOLS } from "../../src/interface/mcp/tools.ts";
import { QUESTIONS } from "../../src/interface/questions/questions.ts";

export type QuestionName = keyof typeof QUESTIONS;

/** What a question is called at each face. */
export interface Face {
  method: "GET" | "POST";
  route: string;
  /** Undefined if there is none, for the reason that the page gives. */
  tool: Tool | undefined;
  command: string;
  /** Last part of the dashboard page's address, if there is a page. */
  page: string | undefined;
}

/** What the faces answer in one case of nothing being found. */
export interface NothingFound {
  status: number;
  /** The error's code over HTTP; undefined for an answer. */
  code: string | undefined;
  isToolError: boolean;
  /** Exit code of the command; undefined if it never comes to this. */
  exit: number | undefined;
}

const ARCHITECTURE = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");

/** A cell of the tables for what a face does not have. */
const NONE = "–";

/** The faces of a question. Throws if the table of docs/architecture.md lacks the question or one of its faces. */
export function facesOf(name: string): Face {
  const cells = rowsBelow("| Question ", ARCHITECTURE).find(([question]) => question === name);
  if (!cells) throw new Error(`docs/architecture.md, "Questions": the table of faces lacks ${name}`);
  const [, http = "", toolName = "", command = "", page = ""] = cells;
  const [, method, route] = /^(GET|POST) (\/\S+)$/.exec(http) ?? [];
  const tool = TOOLS.find((candidate) => candidate.name === toolName);
  if ((method !== "GET" && method !== "POST") || route === undefined) throw new Error(`${name} has no route: ${http}`);
  if (!tool && toolName !== NONE) throw new Error(`${name} has no MCP tool: ${toolName}`);
  if (!/^[a-z]+$/.test(command)) throw new Error(`${name} has no command: ${command}`);
  return { method, route, tool, command, page: /^[a-z]+$/.test(page) ? page : undefined };
}

/** The table of docs/architecture.md, by the first words of each row. */
export function nothingFoundTable(): Map<string, NothingFound> {
  const rows = rowsBelow(
    "|  ",
    ARCHITECTURE.slice(ARCHITECTURE.indexOf("What each face answers when nothing is found")),
  );
  return new Map(
    rows.map(([label = "", http = "", mcp = "", cli = ""]) => {
      const [, status = "", code] = /^(\d{3})(?: ([A-Z_]+))?/.exec(http) ?? [];
      const [, exit] = /exit code (\d+)/.exec(cli) ?? [];
      const expected = { status: Number(status), code, isToolError: mcp.startsWith("an error") };
      return [label, { ...expected, exit: exit === undefined ? undefined : Number(exit) }];
    }),
  );
}

/** Cells of the first table whose heading begins so, without the marks of code. */
function rowsBelow(heading: string, text: string): string[][] {
  const lines = text.slice(text.indexOf(`\n${heading}`) + 1).split("\n");
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

type Given = Readonly<Record<string, unknown>>;

/** Arguments of the tool for a request. What the tool does not take is left out. */
export function toolArguments(name: QuestionName, request: Given): Record<string, unknown> {
  if (name === "definition") return { at: placeOf(request) };
  const parameters: Parameters = QUESTIONS[name].parameters;
  const taken = Object.entries<Parameter>(parameters).filter(
    ([own, { notOn }]) => own in request && !notOn?.includes("tool"),
  );
  return Object.fromEntries(taken.map(([own, { tool }]) => [tool ?? inCase(own, "_"), request[own]]));
}

/** Words of the command line for a request, without the command's name. */
export function commandArguments(name: QuestionName, request: Given): string[] {
  if (typeof request["relation"] === "string") return relationArguments(request);
  if (name === "definition") return ["--", placeOf(request)];
  const parameters: Parameters = QUESTIONS[name].parameters;
  const options: string[] = [];
  const words: string[] = [];
  for (const [own, parameter] of Object.entries<Parameter>(parameters)) {
    const value = request[own];
    if (value === undefined || parameter.notOn?.includes("cli")) continue;
    const given = [value].flat().map(String);
    if (parameter.required || parameter.argument) words.push(...given);
    else if (parameter.type === "flag") options.push(...(value === true ? [optionOf(own, parameter)] : []));
    else options.push(...given.flatMap((each) => [optionOf(own, parameter), each]));
  }
  // The one parameter that is a part of another: `read <path>:<start>-<end>`.
  const { start, end = "" } = request as { start?: number; end?: number | "" };
  const range = name === "file" && start !== undefined ? `:${start}-${end}` : "";
  return [...options, "--", ...words.map((word) => word + range)];
}

/** The option of a parameter: `--max-tokens`. */
export const optionOf = (own: string, { option }: Parameter): string => `--${option ?? inCase(own, "-")}`;

/** The tool's name of a parameter: `max_tokens`. */
export const toolNameOf = (own: string, { tool }: Parameter): string => tool ?? inCase(own, "_");

function inCase(name: string, separator: "_" | "-"): string {
  return name.replace(/[A-Z]/g, (letter) => `${separator}${letter.toLowerCase()}`);
}

/** A position, as the tool and the command take it. */
function placeOf(request: Given): string {
  const { path, line, column } = request as { path: string; line: number; column?: number };
  return `${path}:${line}${column === undefined ? "" : `:${column}`}`;
}

/** Words of the command of a relation, which goes by the relation's name. */
function relationArguments({ relation, ...request }: Given): string[] {
  const { name = "", path = "", line, ...options } = request as Record<string, string | number>;
  const words = Object.entries(options).flatMap(([option, value]) => [`--${option}`, String(value)]);
  if (relation === "importers") return [String(path), ...words];
  const at = path === "" ? [] : ["--at", line === undefined ? String(path) : `${path}:${line}`];
  return [String(name), ...at, ...words];
}
