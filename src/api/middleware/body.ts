import type * as z from "zod";
import { type FieldIssue, MAX_BODY_BYTES } from "../../contract/index.ts";
import { ApiError, invalidBody } from "../../errors.ts";

/**
 * The outcome of reading a body. Bodies are read before the gate is asked, because one RPC both admits a request and
 * reserves its credits, but a bad body must only be reported after the credential and the rate limit were checked.
 */
export type BodyResult<T> = { ok: true; data: T } | { ok: false; error: ApiError };

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i;

export interface BodyOptions<T> {
  /** Turns the issues into the route's error. */
  toError?: (issues: FieldIssue[]) => ApiError;
  /** A quicker way to what the schema would make of the plainest bodies; undefined: ask the schema. */
  plain?: (data: unknown) => T | undefined;
}

/** Reads and validates a JSON body. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  { toError = (issues) => invalidBody(issues), plain }: BodyOptions<z.infer<Schema>> = {},
): Promise<BodyResult<z.infer<Schema>>> {
  const json = await readJson(request);
  if (!json.ok) return json.error.code === "INPUT_TOO_LARGE" ? json : { ok: false, error: toError(json.issues) };
  const data = plain?.(json.data);
  if (data !== undefined) return { ok: true, data };
  const parsed = schema.safeParse(json.data);
  if (parsed.success) return { ok: true, data: parsed.data };
  return { ok: false, error: toError(parsed.error.issues.map(toIssue)) };
}

/** The data of a body, or its error thrown. */
export function unwrap<T>(body: BodyResult<T>): T {
  if (body.ok) return body.data;
  throw body.error;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

type JsonResult = { ok: true; data: unknown } | { ok: false; error: ApiError; issues: FieldIssue[] };

async function readJson(request: Request): Promise<JsonResult> {
  const bytes = await readCapped(request, MAX_BODY_BYTES);
  if (bytes === undefined) {
    const error = new ApiError(
      "INPUT_TOO_LARGE",
      `the body is larger than ${MAX_BODY_BYTES} bytes; send less at a time`,
    );
    return { ok: false, error, issues: [] };
  }
  if (!JSON_TYPE.test(request.headers.get("Content-Type") ?? ""))
    return malformed("send a JSON body with Content-Type: application/json");
  try {
    return { ok: true, data: JSON.parse(decoder.decode(bytes)) };
  } catch {
    return malformed("the body is not valid JSON");
  }
}

function malformed(message: string): JsonResult {
  const issues = [{ path: "", message }];
  return { ok: false, error: invalidBody(issues), issues };
}

/** The whole body, or undefined as soon as it exceeds `limit` bytes. */
async function readCapped(request: Request, limit: number): Promise<Uint8Array | undefined> {
  const declared = request.headers.get("Content-Length");
  // HTTP holds the body to its declared length, and a whole body is read far faster than its parts; so no stream is asked for.
  if (declared !== null && Number(declared) <= limit) return new Uint8Array(await request.arrayBuffer());
  if (request.body === null) return new Uint8Array();
  if (declared !== null) {
    await drain(request.body.getReader(), Number(declared));
    return undefined;
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > limit) {
      await drain(reader, size);
      return undefined;
    }
    parts.push(value);
  }
  return parts.length === 1 ? parts[0] : Buffer.concat(parts, size);
}

/** Bodies up to this size are read to their end before they are refused. */
const DRAIN_BYTES = 64 * 1024 * 1024;

/**
 * Lets a client finish sending what is refused anyway: many only look for an answer then, and take a connection that closes
 * under their hands for a failure of the network. What is larger than reason is cut off.
 */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, expected: number): Promise<void> {
  let left = expected > DRAIN_BYTES ? 0 : DRAIN_BYTES;
  while (left > 0) {
    const { done, value } = await reader.read();
    if (done) return;
    left -= value.byteLength;
  }
  await reader.cancel();
}

function toIssue(issue: z.core.$ZodIssue): FieldIssue {
  const path = issue.path.map(String).join(".");
  const missing =
    issue.code === "invalid_type" && issue.input === undefined && /received undefined/.test(issue.message);
  return { path, message: missing ? "is required" : issue.message };
}
