import type { Surface } from "../../contract/surfaces.ts";

/** The subset of `RequestInit` that the client uses. */
export interface SentRequest {
  method: string;
  headers: Record<string, string>;
  signal: AbortSignal;
  body?: string;
}

/** The subset of `Response` that the client uses. */
export interface AnswerLike {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly body: ReadableStream<Uint8Array> | null;
}

/** Longest answer that is read, in bytes; the largest ones, of 128 embeddings, have a tenth of that. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The body of an answer as text; undefined if it is longer than `mostBytes`. No more than that is read. */
export async function readText(
  { body }: AnswerLike,
  mostBytes: number = MAX_ANSWER_BYTES,
): Promise<string | undefined> {
  if (!body) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let byteCount = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return parts.join("") + decoder.decode();
    byteCount += value.length;
    if (byteCount > mostBytes) break;
    parts.push(decoder.decode(value, { stream: true }));
  }
  await reader.cancel().catch(() => undefined);
  return undefined;
}

export type FetchLike = (input: string, init: SentRequest) => Promise<AnswerLike>;

/** A request to one route. */
export interface Call {
  method: "GET" | "POST" | "DELETE";
  path: string;
  surface: Surface;
  credential: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  /** Safe to send again when it is unknown whether the first attempt arrived. */
  repeatable: boolean;
  /** A status other than 2xx that is not an error. */
  acceptStatus?: number;
}
