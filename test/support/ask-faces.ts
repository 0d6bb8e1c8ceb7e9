/** Asks one question at every face of the same repository, and says where the answers differ. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { execFile } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { RemoteIndex } from "../../src/cli/remote/remote-index.ts";
import { CodeContextClient } from "../../src/interface/client/index.ts";
import { SEARCH } from "../../src/contract/questions.ts";
import { nearNames } from "../../src/interface/questions/unknown.ts";
import { CODECTX_ENTRY } from "./codectx-entry.ts";
import type { Printed } from "./command-process.ts";
import { Commands } from "./commands.ts";
import { commandArguments, facesOf, nothingFoundTable, type QuestionName, toolArguments } from "./faces.ts";

type Given = Readonly<Record<string, unknown>>;
type Json = Record<string, unknown>;

/** An answer over HTTP. */
export interface RouteAnswer {
  status: number;
  body: Json;
}
interface ToolAnswer {
  text: string;
  isError: boolean;
}
interface CommandAnswer {
  exit: number;
  json: Json;
}

/** What each face answered; those that were not asked are absent. */
export interface FaceAnswers {
  http: RouteAnswer;
  /** The text that the tool makes of what HTTP answers; undefined for an error, or without a tool. */
  rendered: string | undefined;
  /** Undefined if the question has no tool. */
  mcp: ToolAnswer | undefined;
  stdio?: ToolAnswer | undefined;
  remote: CommandAnswer;
  local?: CommandAnswer;
}

/** Where the faces are. */
export interface FacesOptions {
  apiUrl: string;
  apiKey: string;
  /** Folder in which the commands run. */
  cwd: string;
  /** Environment of the commands. */
  env: Record<string, string>;
  /** Identity of the one repository to ask about. Without it, all of the tenant's are asked, and the local faces are left out. */
  repo?: string;
}

/** Fields that only answers of hosted indexes have, and those that say which index it was. */
const OF_INDEX = new Set(["ok", "repo", "workspaceId", "gitSha", "indexes", "digest"]);

/** The faces of one repository, or of all that an API key may read. */
export class Faces {
  readonly #options: FacesOptions;
  readonly #remote: RemoteIndex;
  readonly #mcp: Client;
  readonly #stdio: Client | undefined;
  readonly #commands = new Commands();

  private constructor(options: FacesOptions, mcp: Client, stdio: Client | undefined) {
    const { apiUrl, apiKey } = options;
    this.#options = options;
    this.#remote = new RemoteIndex(new CodeContextClient({ baseUrl: apiUrl, apiKey }), {});
    this.#mcp = mcp;
    this.#stdio = stdio;
  }

  static async open(options: FacesOptions): Promise<Faces> {
    const { apiUrl, apiKey, cwd, env, repo } = options;
    const mcp = new Client({ name: "faces", version: "1" });
    const headers = { Authorization: `Bearer ${apiKey}` };
    await mcp.connect(new StreamableHTTPClientTransport(new URL(`${apiUrl}/mcp`), { requestInit: { headers } }));
    if (repo === undefined) return new Faces(options, mcp, undefined);
    const stdio = new Client({ name: "faces", version: "1" });
    await stdio.connect(
      new StdioClientTransport({ command: process.execPath, args: [CODECTX_ENTRY, "mcp"], cwd, env }),
    );
    return new Faces(options, mcp, stdio);
  }

  async close(): Promise<void> {
    this.#commands.close();
    await this.#mcp.close();
    await this.#stdio?.close();
  }

  /** Asks a question everywhere. */
  async ask(name: QuestionName, request: Given): Promise<FaceAnswers> {
    const { repo } = this.#options;
    // The longest text, since what is shortened depends on the length of the heading, which names a work tree as such.
    const max_tokens = SEARCH.maxTokens.max;
    const input = { ...toolArguments(name, request), ...(repo !== undefined && { repo }), max_tokens };
    const [http, rendered, mcp, remote] = await Promise.all([
      this.http(name, request),
      this.#rendered(name, input),
      callTool(this.#mcp, name, input),
      this.#answer(name, ["--json", "--remote"], request),
    ]);
    if (this.#stdio === undefined) return { http, rendered, mcp, remote };
    const stdio = await callTool(this.#stdio, name, input);
    const local = await this.#answer(name, ["--json"], request);
    return { http, rendered, mcp, remote, stdio, local };
  }

  async http(name: QuestionName, request: Given): Promise<RouteAnswer> {
    const { apiUrl, apiKey, repo } = this.#options;
    const { method, route } = facesOf(name);
    const asked = { ...request, ...(repo !== undefined && { repo }) };
    const query = method === "GET" ? `?${new URLSearchParams(asked as Record<string, string>).toString()}` : "";
    const response = await fetch(`${apiUrl}${route}${query}`, {
      method,
      headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
      ...(method === "POST" && { body: JSON.stringify(asked) }),
    });
    return { status: response.status, body: (await response.json()) as Json };
  }

  /** Runs the question's command as a user does; without `--json` the document is `{ stdout }`. */
  command(name: QuestionName, options: readonly string[], request: Given): Promise<CommandAnswer> {
    const { cwd, env } = this.#options;
    const args = [CODECTX_ENTRY, ...wordsOf(name, options, request)];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { cwd, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        const exit = typeof error?.code === "number" ? error.code : error ? -1 : 0;
        resolve(answerOf({ exit, stdout, stderr }));
      });
    });
  }

  /** What the question's command prints, run beside others in one process. */
  async #answer(name: QuestionName, options: readonly string[], request: Given): Promise<CommandAnswer> {
    const { cwd, env } = this.#options;
    return answerOf(await this.#commands.run({ args: wordsOf(name, options, request), cwd, env }));
  }

  async #rendered(name: QuestionName, input: Given): Promise<string | undefined> {
    const { tool } = facesOf(name);
    // find_symbol shows lines of the definitions, which HTTP answers to another question.
    if (!tool || name === "symbols") return undefined;
    const index = Object.assign(this.#remote, { repos: () => Promise.resolve([]) });
    return tool.run({ index, nowMs: Date.now() }, tool.input.parse(input)).catch(() => undefined);
  }
}

/** A question's command, without the program. */
function wordsOf(name: QuestionName, options: readonly string[], request: Given): string[] {
  const command = typeof request["relation"] === "string" ? request["relation"] : facesOf(name).command;
  return [command, ...options, ...commandArguments(name, request)];
}

function answerOf({ exit, stdout, stderr }: Printed): CommandAnswer {
  return { exit, json: stdout.startsWith("{") ? (JSON.parse(stdout) as Json) : { stdout, stderr } };
}

async function callTool(client: Client, name: QuestionName, input: Json): Promise<ToolAnswer | undefined> {
  const { tool } = facesOf(name);
  if (!tool) return undefined;
  const answer = await client.callTool({ name: tool.name, arguments: input });
  const [content] = answer.content as { text: string }[];
  return { text: content?.text ?? "", isError: answer.isError === true };
}

/** Rows of the table "nothing found" in docs/architecture.md, without the marks of code. */
export const ROWS = {
  unknown: "a name or path that no index has",
  similar: "similar names only",
  empty: "a search or a defined name, no hits",
  noLine: "grep: no line, all text searched",
  noLineKnown: "grep: no line, not all text searched",
  absent: "coverage of a path in no tree",
  nothing: "nothing is indexed",
} as const;

/** The row of the table "nothing found" that an HTTP answer belongs to; undefined if what was asked for was found. */
export function rowOf(request: Given, { status, body }: RouteAnswer): string | undefined {
  if (body["code"] === "NO_INDEX") return ROWS.nothing;
  if (status === 404) return ROWS.unknown;
  if (body["match"] === "fuzzy" && request["match"] === undefined) return ROWS.similar;
  const { total, complete, path } = body as {
    total?: { lines?: number };
    complete?: boolean;
    path?: { state?: string };
  };
  if (total?.lines === 0) return complete ? ROWS.noLine : ROWS.noLineKnown;
  if (path?.state === "absent") return ROWS.absent;
  // `coverage` lists paths too.
  const list =
    body["results"] ?? body["references"] ?? body["definitions"] ?? ("indexed" in body ? undefined : body["paths"]);
  return Array.isArray(list) && list.length === 0 ? ROWS.empty : undefined;
}

/** Where the answers differ from what HTTP answers, or from the table of docs/architecture.md; empty if nowhere. */
export function differencesOf(request: Given, answers: FaceAnswers): string[] {
  const { http, rendered, mcp, stdio, remote, local } = answers;
  const row = rowOf(request, http);
  const expected = row === undefined ? { status: 200, isToolError: false, exit: 0 } : nothingFoundTable().get(row);
  if (!expected) return [`docs/architecture.md has no row "${row}"`];
  const found: string[] = [];
  const compare = (what: string, actual: unknown, wanted: unknown): void => {
    if (isDeepStrictEqual(actual, wanted)) return;
    found.push(`${what}: ${JSON.stringify(actual)}\n  instead of ${JSON.stringify(wanted)}`);
  };
  compare("status", http.status, expected.status);
  compare("code", http.body["code"], "code" in expected ? expected.code : undefined);
  const headings = Array.isArray(http.body["indexes"]) ? http.body["indexes"].length : 0;
  if (mcp) {
    const text = bodyOf(mcp.text, headings);
    compare("MCP over HTTP is an error", mcp.isError, expected.isToolError);
    if (rendered !== undefined) compare("MCP over HTTP", text, bodyOf(rendered, headings));
    if (stdio) compare("MCP over stdio", { ...stdio, text: bodyOf(stdio.text, headings) }, { ...mcp, text });
  }
  for (const [face, answer] of Object.entries({ "--remote": remote, ...(local && { "the local command": local }) })) {
    if (expected.exit !== undefined) compare(`exit code of ${face}`, answer.exit, expected.exit);
    if (answer.exit === 0) compare(face, comparable(answer.json), comparable(http.body));
    const near = nearOf(http.body);
    const isNamed = row === ROWS.unknown || row === ROWS.similar;
    if (isNamed) compare(`near names of ${face}`, nearOf(answer.json), near);
    const unnamed = mcp ? near.filter((name) => !mcp.text.includes(name)) : [];
    if (isNamed) compare("near names over MCP", unnamed, []);
  }
  if (local?.exit === 0 && headings === 1) compare("commit", local.json["gitSha"], commitOf(http.body));
  return found;
}

/** Text without the first lines, which name the indexes and their age. */
function bodyOf(text: string, headings: number): string {
  return text.split("\n").slice(headings).join("\n");
}

function commitOf({ indexes }: Json): unknown {
  return (indexes as { gitSha: string }[])[0]?.gitSha;
}

function nearOf(body: Json): readonly string[] {
  const { details, symbols } = body as { details?: { near?: string[] }; symbols?: { qualifiedName: string }[] };
  return details?.near ?? nearNames(symbols ?? []);
}

/** A document without what says which index it comes from. `codectx outline` names its symbols twice, for earlier scripts. */
function comparable(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(comparable);
  if (typeof document !== "object" || document === null) return document;
  const entries = Object.entries(document).filter(
    ([name]) => !OF_INDEX.has(name) && !(name === "symbols" && "outline" in document),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, comparable(value)]));
}
