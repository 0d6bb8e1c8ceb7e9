/** Calls of Python as pyright's language server resolves them, asked call by call. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { FileUses } from "../../src/engines/relations/types.ts";
import type { GoldCall } from "./gold-call.ts";

/** Requests that the server works on at a time. */
const AT_ONCE = 50;

interface Location {
  uri: string;
  range: { start: { line: number } };
}

export async function pyrightCalls(
  server: string,
  root: string,
  files: readonly string[],
  uses: ReadonlyMap<string, FileUses>,
): Promise<GoldCall[]> {
  const client = new LspClient(server);
  try {
    const rootUri = pathToFileURL(root).href;
    await client.request("initialize", {
      processId: process.pid,
      rootUri,
      capabilities: {},
      workspaceFolders: [{ uri: rootUri, name: "checkout" }],
    });
    client.notify("initialized", {});
    const calls: GoldCall[] = [];
    for (const own of files) calls.push(...(await callsOf(client, root, own, uses.get(own))));
    return calls;
  } finally {
    client.end();
  }
}

async function callsOf(client: LspClient, root: string, own: string, uses: FileUses | undefined): Promise<GoldCall[]> {
  const text = readFileSync(path.join(root, own), "utf8");
  const uri = pathToFileURL(path.join(root, own)).href;
  client.notify("textDocument/didOpen", { textDocument: { uri, languageId: "python", version: 1, text } });
  const lines = text.split("\n");
  const places = new Map<string, { line: number; name: string; character: number }>();
  for (const { kind, line, name } of uses?.uses ?? []) {
    // The last place of the line where the name is called.
    const found = [...(lines[line - 1] ?? "").matchAll(new RegExp(`(?<![\\w])${name}\\s*\\(`, "gu"))];
    if (kind === "call" && found.length === 1)
      places.set(`${line} ${name}`, { line, name, character: found[0]?.index ?? 0 });
  }
  const calls: GoldCall[] = [];
  const queue = [...places.values()];
  for (let from = 0; from < queue.length; from += AT_ONCE)
    await Promise.all(
      queue.slice(from, from + AT_ONCE).map(async ({ line, name, character }) => {
        const position = { line: line - 1, character };
        const found = (await client.request("textDocument/definition", { textDocument: { uri }, position })) as
          | Location[]
          | null;
        // Nothing known of the receiver: counts neither way.
        for (const { uri: other, range } of found ?? []) {
          const to = path.relative(root, fileURLToPath(other));
          calls.push({ path: own, line, name, to, at: range.start.line + 1 });
        }
      }),
    );
  client.notify("textDocument/didClose", { textDocument: { uri } });
  return calls;
}

/** A language server on its standard streams. */
class LspClient {
  readonly #child;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #next = 1;
  #received: Buffer = Buffer.alloc(0);

  constructor(server: string) {
    this.#child = spawn(process.execPath, [server, "--stdio"], { stdio: ["pipe", "pipe", "ignore"] });
    this.#child.stdout.on("data", (part: Buffer) => this.#read(part));
  }

  request(method: string, params: object): Promise<unknown> {
    const id = this.#next++;
    this.#send({ id, method, params });
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  end(): void {
    this.#child.kill();
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  #read(part: Buffer): void {
    this.#received = Buffer.concat([this.#received, part]);
    for (;;) {
      const head = this.#received.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.#received.subarray(0, head).toString())?.[1] ?? 0);
      if (this.#received.length < head + 4 + length) return;
      const body = this.#received.subarray(head + 4, head + 4 + length).toString();
      this.#received = this.#received.subarray(head + 4 + length);
      this.#take(JSON.parse(body) as { id?: number; method?: string; params?: { items?: object[] }; result?: unknown });
    }
  }

  #take({
    id,
    method,
    params,
    result,
  }: {
    id?: number;
    method?: string;
    params?: { items?: object[] };
    result?: unknown;
  }) {
    if (id === undefined) return;
    if (method === undefined) {
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    } else
      this.#send({ id, result: method === "workspace/configuration" ? (params?.items ?? []).map(() => ({})) : null });
  }
}
