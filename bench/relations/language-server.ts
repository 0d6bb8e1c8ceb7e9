/** Calls as a language server resolves them, asked call by call: pyright for Python, intelephense for PHP. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Use } from "../../src/engines/relations/types.ts";
import { temporaryFolder } from "../support.ts";
import type { GoldCall, UsesOf } from "./gold-call.ts";

/** Requests that the server works on at a time. */
const AT_ONCE = 50;

interface Location {
  uri: string;
  range: { start: { line: number } };
}

export interface LanguageServer {
  /** Its main file. */
  file: string;
  languageId: string;
  /** The notification after which it knows all files; it is started without one. */
  ready?: string;
}

export async function serverCalls(
  server: LanguageServer,
  root: string,
  files: readonly string[],
  usesOf: UsesOf,
): Promise<GoldCall[]> {
  const client = new LspClient(server);
  try {
    const rootUri = pathToFileURL(root).href;
    await client.request("initialize", {
      processId: process.pid,
      rootUri,
      capabilities: {},
      workspaceFolders: [{ uri: rootUri, name: "checkout" }],
      initializationOptions: { storagePath: temporaryFolder("gold"), clearCache: true },
    });
    client.notify("initialized", {});
    await client.ready;
    const calls: GoldCall[] = [];
    for (const own of files) calls.push(...(await callsOf(client, server, root, own, await usesOf(own))));
    return calls;
  } finally {
    client.end();
  }
}

async function callsOf(
  client: LspClient,
  { languageId }: LanguageServer,
  root: string,
  own: string,
  uses: readonly Use[],
): Promise<GoldCall[]> {
  const text = readFileSync(path.join(root, own), "utf8");
  const uri = pathToFileURL(path.join(root, own)).href;
  client.notify("textDocument/didOpen", { textDocument: { uri, languageId, version: 1, text } });
  const lines = text.split("\n");
  const places = new Map<string, { line: number; name: string; character: number }>();
  for (const { kind, line, name } of uses) {
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
          | Location
          | null;
        // Nothing known of the receiver: counts neither way.
        for (const { uri: other, range } of [found ?? []].flat()) {
          const to = path.relative(root, fileURLToPath(other));
          calls.push({ path: own, line, name, to, at: lineOfName(fileURLToPath(other), range.start.line, name) });
        }
      }),
    );
  client.notify("textDocument/didClose", { textDocument: { uri } });
  return calls;
}

/** The line of a definition's name, of which a server may say where its comment begins. */
function lineOfName(file: string, from: number, name: string): number {
  if (!file.endsWith(".php")) return from + 1;
  const declared = new RegExp(`\\bfunction\\s+&?${name}\\b`, "i");
  const lines = readFileSync(file, "utf8").split("\n");
  const at = lines.findIndex((line, i) => i >= from && declared.test(line));
  return (at < 0 ? from : at) + 1;
}

/** A language server on its standard streams. */
class LspClient {
  readonly #child;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #next = 1;
  #received: Buffer = Buffer.alloc(0);

  /** Fulfilled when the server knows all files. */
  readonly ready: Promise<void>;
  readonly #awaited: string | undefined;
  #isReady = (): void => {};

  constructor({ file, ready }: LanguageServer) {
    this.#awaited = ready;
    this.ready = ready === undefined ? Promise.resolve() : new Promise((resolve) => (this.#isReady = resolve));
    this.#child = spawn(process.execPath, [file, "--stdio"], { stdio: ["pipe", "pipe", "ignore"] });
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
    if (method !== undefined && method === this.#awaited) this.#isReady();
    if (id === undefined) return;
    if (method === undefined) {
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    } else
      this.#send({ id, result: method === "workspace/configuration" ? (params?.items ?? []).map(() => ({})) : null });
  }
}
