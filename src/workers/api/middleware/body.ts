import type * as z from "zod";
import { type FieldIssue, MAX_BODY_BYTES, MAX_BODY_VALUES } from "../../../contract/index.ts";
import { ApiError, invalidBody } from "../../../lib/errors.ts";
import { raceTimeout } from "../../../lib/pause.ts";
import type { Turn } from "../../../lib/turns.ts";
import { describeIssue, toIssue } from "../issues.ts";

/**
 * The outcome of reading a body. An error is a value, because a small body is read before the gate is called, but an invalid body
 * is reported only after the credential and the rate limit were checked.
 */
export type BodyResult<T> = { ok: true; data: T } | { ok: false; error: ApiError };

export interface BodyOptions<Schema extends z.ZodType> {
  schema: Schema;
  /** Converts rejected fields to the route's error; default: `INVALID_BODY`. */
  toError?: (issues: FieldIssue[]) => ApiError;
  /** Largest body; default: `MAX_BODY_BYTES`. */
  maxBytes?: number;
  /** Most values in the body, arrays and objects included; default: `MAX_BODY_VALUES`. */
  maxValues?: number;
}

/** Largest number of rejected fields in an error. */
const MAX_ISSUES = 50;

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i;

/** Reads and validates a JSON body. It is read outside of the request's turn: its sender may be slow. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  { schema, toError = invalidBody, maxBytes = MAX_BODY_BYTES, maxValues = MAX_BODY_VALUES }: BodyOptions<Schema>,
  turn: Turn,
): Promise<BodyResult<z.output<Schema>>> {
  const bytes = await turn.outside(() => readCapped(request, maxBytes));
  if (bytes === undefined) {
    const message = `the body is larger than ${maxBytes} bytes; send less at a time`;
    return { ok: false, error: new ApiError("INPUT_TOO_LARGE", message) };
  }
  const malformed = (message: string) => ({ ok: false, error: toError([{ path: "", message }]) }) as const;
  if (!JSON_TYPE.test(request.headers.get("Content-Type") ?? "")) {
    return malformed("send a JSON body with Content-Type: application/json");
  }
  const encoding = request.headers.get("Content-Encoding") ?? "identity";
  if (encoding !== "identity") return malformed(`send the body uncompressed: Content-Encoding ${encoding} is not read`);
  if (countValues(bytes, maxValues) > maxValues)
    return malformed(`the body has more than ${maxValues} values; send less`);
  let json: unknown;
  try {
    json = JSON.parse(decoder.decode(bytes));
  } catch {
    return malformed("the body is not valid JSON");
  }
  const parsed = schema.safeParse(json, { error: describeIssue });
  return parsed.success
    ? { ok: true, data: parsed.data }
    : { ok: false, error: toError(parsed.error.issues.slice(0, MAX_ISSUES).map(toIssue)) };
}

const [QUOTE, BACKSLASH, COMMA, ARRAY, OBJECT] = Array.from('"\\,[{', (character) => character.charCodeAt(0));

/** Values of a JSON text, without parsing it: what commas and brackets outside of strings say. Stops above `limit`. */
function countValues(json: Uint8Array, limit: number): number {
  let values = 1;
  for (let at = 0; at < json.length && values <= limit; at++) {
    const byte = json[at];
    if (byte === COMMA || byte === ARRAY || byte === OBJECT) values++;
    else if (byte === QUOTE) {
      at++;
      while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
    }
  }
  return values;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** Reads the whole body; undefined if it exceeds `limit` bytes. */
export async function readCapped(request: Request, limit: number): Promise<Uint8Array | undefined> {
  const declared = request.headers.get("Content-Length");
  // The body cannot exceed its declared length, and reading it whole is much faster than in parts.
  if (declared !== null && Number(declared) <= limit) return new Uint8Array(await request.arrayBuffer());
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  if (declared !== null) {
    await drain(reader, Number(declared));
    return undefined;
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(parts, size);
    size += value.byteLength;
    if (size > limit) {
      await drain(reader, size);
      return undefined;
    }
    parts.push(value);
  }
}

/** Bodies up to this size are read before the gate is called, so that one call both admits and reserves. */
const SMALL_BODY_BYTES = 64 * 1024;
/** A small body that takes longer is read after the gate has accepted the credential, so that the sender cannot delay a 401. */
const EARLY_READ_MS = 250;

/**
 * Reads a body at most once: before the gate is called if it is small and arrives at once, else when `late` is called.
 */
export class EarlyBody<T> {
  readonly #request: Request;
  readonly #read: () => Promise<T>;
  #reading: Promise<T> | undefined;

  constructor(request: Request, read: () => Promise<T>) {
    this.#request = request;
    this.#read = read;
  }

  /** The body if it is small and arrives at once; undefined if the read fails, as `late` tells. */
  async early(): Promise<T | undefined> {
    return isSmall(this.#request) ? raceTimeout(this.late(), EARLY_READ_MS).catch(() => undefined) : undefined;
  }

  /** The body; rejects like the read. */
  late(): Promise<T> {
    return (this.#reading ??= this.#read());
  }
}

/** Whether a body may be read before its credential is accepted. */
function isSmall(request: Request): boolean {
  const length = request.headers.get("Content-Length");
  return request.body === null || (length !== null && Number(length) <= SMALL_BODY_BYTES);
}

/** Refused bodies up to this size are read to their end. */
const DRAIN_BYTES = 64 * 1024 * 1024;
const DRAIN_TIMEOUT_MS = 10_000;
/** A refused body that arrives slower than this is not awaited, so that a slow sender cannot hold its request open. */
const MIN_DRAIN_BYTES_PER_SEC = 64 * 1024;

/**
 * Receives and drops the body of a refused request. Many clients read the answer only after they have sent everything, and report
 * a connection that closes before that as a network failure.
 */
export async function discardBody(request: Request): Promise<void> {
  if (request.body === null || request.bodyUsed) return;
  const declared = Number(request.headers.get("Content-Length") ?? 0);
  await drain(request.body.getReader(), declared);
}

/** Reads to the end, up to `DRAIN_BYTES` and `DRAIN_TIMEOUT_MS`, while the body arrives at `MIN_DRAIN_BYTES_PER_SEC` or more. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, expected: number): Promise<void> {
  let left = expected > DRAIN_BYTES ? 0 : DRAIN_BYTES;
  const readAll = async () => {
    while (left > 0) {
      const { done, value } = await reader.read();
      if (done) return;
      left -= value.byteLength;
    }
  };
  // The client may have disconnected, which does not matter here.
  const ended = readAll().catch(() => undefined);
  for (let waitedMs = 0; waitedMs < DRAIN_TIMEOUT_MS; waitedMs += 1_000) {
    const before = left;
    const isOver = await raceTimeout(ended, 1_000).then(
      () => true,
      () => false,
    );
    if (isOver || before - left < MIN_DRAIN_BYTES_PER_SEC) break;
  }
  await reader.cancel().catch(() => undefined);
}
