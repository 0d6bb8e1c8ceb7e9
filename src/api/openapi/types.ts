import type * as z from "zod";
import type { ErrorCode, Surface } from "../../contract/index.ts";

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description: string;
  schema: Record<string, unknown>;
}

export interface Success {
  description: string;
  /** Absent for answers that are no JSON. */
  schema?: z.ZodType;
  /** Other media types of the same answer, with their schemas. */
  also?: Record<string, Record<string, unknown>>;
  headers?: Record<string, string>;
}

/** One operation of the service, as code, description and tests see it. */
export interface Operation {
  id: string;
  method: "GET" | "POST";
  /** Below the base address and below `/api/v1` of the site; parameters in braces. */
  path: string;
  /** Further addresses of the same route, from the root of the server. */
  aliases?: readonly string[];
  tag: string;
  summary: string;
  description?: string;
  credential: "apiKey" | "workerToken" | null;
  /** Rate-limit bucket; null where nothing is counted. */
  surface: Surface | null;
  parameters?: readonly Parameter[];
  request?: { schema: z.ZodType; example: unknown };
  responses: Record<number, Success>;
  /** Besides those that follow from credential, surface and body. */
  errors?: readonly ErrorCode[];
  /** Codes that take the place of `INVALID_BODY` where the body is wrong. */
  bodyErrors?: readonly ErrorCode[];
  /** Form of the error bodies: ours, or OpenAI's. */
  errorForm?: "compat";
}
