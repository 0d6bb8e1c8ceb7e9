import type { Surface } from "../contract/surfaces.ts";

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
  text(): Promise<string>;
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
