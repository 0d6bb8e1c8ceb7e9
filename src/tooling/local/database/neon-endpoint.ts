/**
 * Neon's HTTP protocol (`POST /sql`) in front of the sessions of a PostgreSQL. The driver `@neondatabase/serverless` uses it:
 * `{query, params}` or `{queries: […]}`, headers `Neon-*`, rows as arrays of text, and database errors as 400 with their fields.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { WireError, WireResult } from "./postgres-wire.ts";

/** A session of the database, used by one request at a time. */
export interface Session {
  /**
   * Runs one statement; an error of the statement is part of the result. Throws `DatabaseAway` if the connection is lost, and
   * `DatabaseFailure` if the database can no longer be used.
   */
  query(text: string, params: (string | null)[]): WireResult | Promise<WireResult>;
  /** Ends the use of the session, exactly once. */
  release(): void;
}

interface NeonEndpointOptions {
  /** Waits for a free session. Throws `DatabaseAway` if there is none in time. */
  acquire(): Promise<Session>;
  /** The password required in a connection string. */
  password: string;
  /** Called after a `DatabaseFailure`. */
  onFatal?: (error: Error) => void;
}

/** SQLSTATE of a request that does not follow the protocol. */
const PROTOCOL_VIOLATION = "08P01";
/** Neon's own cap on a request. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;
/** Long enough that idle connections stay open while a query blocks the process. */
const KEEP_ALIVE_MS = 24 * 60 * 60 * 1000;

const ISOLATION_LEVELS: Record<string, string> = {
  ReadUncommitted: "READ UNCOMMITTED",
  ReadCommitted: "READ COMMITTED",
  RepeatableRead: "REPEATABLE READ",
  Serializable: "SERIALIZABLE",
};

/** The protocol counts the parameters of a statement in two bytes. */
const MAX_PARAMS = 0xffff;

/** The database cannot be reached now; a later query may succeed. Answered with 503. */
export class DatabaseAway extends Error {
  override readonly name = "DatabaseAway";
}

/** The database itself failed; later queries would fail too. */
export class DatabaseFailure extends Error {
  override readonly name = "DatabaseFailure";
}

/** A query that the database rejected; answered with 400. */
class QueryFailure extends Error {
  readonly fields: WireError;
  constructor(fields: WireError) {
    super(fields.message);
    this.fields = fields;
  }
}

interface Query {
  query: string;
  params: (string | null)[];
}

/** Creates the server; the caller starts listening. */
export function createNeonEndpoint(options: NeonEndpointOptions): Server {
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: 0, requestTimeout: 0 },
    (request, response) => {
      // Only reading the request can fail here: the client has closed the connection.
      answer(options, request, response).catch(() => response.destroy());
    },
  );
  server.on("clientError", (_error, socket) => socket.destroy());
  return server;
}

async function answer(options: NeonEndpointOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url?.split("?")[0] !== "/sql") return send(response, 404, { message: "not found" });
  if (request.method !== "POST") return send(response, 405, { message: "method not allowed" });
  if (!isAllowed(request.headers["neon-connection-string"], options.password)) {
    return send(response, 400, { severity: "FATAL", code: "28P01", message: "password authentication failed" });
  }
  const body = await readBody(request);
  if (body === undefined) return send(response, 413, { message: `a request has at most ${MAX_REQUEST_BYTES} bytes` });
  try {
    const work = readWork(JSON.parse(body.toString("utf8")), request.headers);
    const session = await options.acquire();
    try {
      // The client may have left while it waited for a session.
      if (response.destroyed) return;
      send(response, 200, await work(session));
    } finally {
      session.release();
    }
  } catch (error) {
    if (error instanceof QueryFailure) return send(response, 400, error.fields);
    if (error instanceof DatabaseAway) return send(response, 503, { message: error.message });
    if (error instanceof DatabaseFailure) {
      send(response, 500, { message: "the database has failed" });
      return options.onFatal?.(error);
    }
    // JSON that cannot be read, fields of the wrong type, or an answer longer than a string can be.
    const message = error instanceof Error ? error.message : "malformed request";
    send(response, 400, { severity: "ERROR", code: PROTOCOL_VIOLATION, message });
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length }).end(bytes);
}

function isAllowed(connectionString: string | string[] | undefined, password: string): boolean {
  if (typeof connectionString !== "string" || !URL.canParse(connectionString)) return false;
  const given = decodePassword(new URL(connectionString).password);
  if (given === undefined) return false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(password));
}

function decodePassword(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size <= MAX_REQUEST_BYTES) parts.push(part);
  }
  if (size > MAX_REQUEST_BYTES) return undefined;
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts, size);
}

/** Checks a request's body and returns what it asks for. Throws `TypeError` or `RangeError` if it is malformed. */
function readWork(body: unknown, headers: IncomingMessage["headers"]): (session: Session) => Promise<unknown> {
  const asArrays = headers["neon-array-mode"] === "true";
  if (isRecord(body) && Array.isArray(body["queries"])) {
    const queries = body["queries"].map(readQuery);
    const begin = beginStatement(headers);
    return async (session) => {
      const results = await runBatch(session, queries, begin);
      return { results: results.map((result) => toWire(result, asArrays)) };
    };
  }
  const { query, params } = readQuery(body);
  return async (session) => {
    const result = await session.query(query, params);
    // Each request is a separate session: open transactions and settings must not leak into the next one.
    if (result.status !== "I") await session.query("ROLLBACK", []);
    if (result.command === "SET") await session.query("RESET ALL", []);
    if (result.error) throw new QueryFailure(result.error);
    return toWire(result, asArrays);
  };
}

async function runBatch(session: Session, queries: readonly Query[], begin: string): Promise<WireResult[]> {
  const results: WireResult[] = [];
  const step = async (query: string, params: (string | null)[] = []): Promise<WireResult> => {
    const result = await session.query(query, params);
    if (!result.error) return result;
    await session.query("ROLLBACK", []);
    throw new QueryFailure(result.error);
  };
  await step(begin);
  for (const { query, params } of queries) results.push(await step(query, params));
  await step("COMMIT");
  if (results.some((result) => result.command === "SET")) await session.query("RESET ALL", []);
  return results;
}

function beginStatement(headers: IncomingMessage["headers"]): string {
  const words = ["BEGIN"];
  const level = headers["neon-batch-isolation-level"];
  if (level !== undefined) {
    const name = ISOLATION_LEVELS[String(level)];
    if (name === undefined) throw new TypeError(`unknown Neon-Batch-Isolation-Level ${String(level)}`);
    words.push(`ISOLATION LEVEL ${name}`);
  }
  if (headers["neon-batch-read-only"] === "true") words.push("READ ONLY");
  if (headers["neon-batch-deferrable"] === "true") words.push("DEFERRABLE");
  return words.join(" ");
}

function toWire(result: WireResult, asArrays: boolean): unknown {
  const { fields, command, rowCount, rows } = result;
  const shown = asArrays ? rows : rows.map((row) => Object.fromEntries(fields.map((field, i) => [field.name, row[i]])));
  return { fields, command, rowCount, rows: shown, rowAsArray: asArrays };
}

function readQuery(value: unknown): Query {
  if (!isRecord(value) || typeof value["query"] !== "string") throw new TypeError("query: expected a string");
  const params = value["params"] ?? [];
  if (!Array.isArray(params)) throw new TypeError("params: expected an array");
  if (params.length > MAX_PARAMS)
    throw new RangeError(`a query has at most ${MAX_PARAMS} parameters, this one has ${params.length}`);
  return { query: checkText("query", value["query"]), params: params.map(toText) };
}

function toText(value: unknown, index: number): string | null {
  if (value === null) return null;
  return checkText(`params[${index}]`, typeof value === "string" ? value : JSON.stringify(value));
}

/** PostgreSQL ends strings at NUL and takes only UTF-8, which has no lone surrogates. */
function checkText(field: string, text: string): string {
  if (text.includes("\0")) throw new TypeError(`${field}: contains a NUL character`);
  if (!text.isWellFormed()) throw new TypeError(`${field}: contains a lone surrogate`);
  return text;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
