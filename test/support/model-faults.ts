/** Options and faults of the model server for tests. */
export type ModelApi = "openai" | "voyage" | "cohere" | "jina";
export type TokenCount = number | "per-character" | "none";

export type Fault =
  /** Reads the request and never answers. */
  | { kind: "hang" }
  /** Sends the head and half the body, then nothing more. */
  | { kind: "hang-mid-body" }
  /** Closes the connection with RST before any answer. */
  | { kind: "reset" }
  /** Closes the connection with RST after half the body. */
  | { kind: "reset-mid-body" }
  /** Answers with this status; `body` defaults to a JSON error that names key, model and address. */
  | { kind: "status"; status: number; retryAfter?: string; body?: string }
  | { kind: "redirect"; location: string }
  /** 200 with an HTML page. */
  | { kind: "html" }
  /** 200 with JSON cut off in the middle. */
  | { kind: "cut-json" }
  /** 200 with `{"error": …}`. */
  | { kind: "error-in-2xx" }
  /** 200 with `null`, or any other JSON that is not an answer. */
  | { kind: "json"; value: unknown }
  /** The right answer, `delayMs` late. */
  | { kind: "slow"; delayMs: number }
  /** The right answer, sent when the server's `release` is called. */
  | { kind: "held" }
  /** The right answer followed by this many spaces. */
  | { kind: "padding"; bytes: number }
  /** One vector or row too few. */
  | { kind: "too-few" }
  /** One too many. */
  | { kind: "too-many" }
  /** The first index twice. */
  | { kind: "duplicate-index" }
  /** Rows without an index; where the format has none, same as `too-few`. */
  | { kind: "missing-index" }
  /** Every vector one component longer. */
  | { kind: "wrong-dimension" }
  /** Only the last vector one component longer. */
  | { kind: "inconsistent-dimension" }
  /** One component or score is NaN: as bits in base64, as a literal in JSON. */
  | { kind: "nan" }
  /** One component or score is infinite, or too large for a float. */
  | { kind: "infinity" };

export interface ModelServerOptions {
  /** Wire format. Default `openai`. */
  api?: ModelApi;
  /** Model's own vector length. Default 8. */
  dimension?: number;
  /** Required key; others get 401. Default: no key is required. */
  apiKey?: string;
  /** Tokens in `usage`: a fixed number per call, one per character (default), or none. */
  tokens?: TokenCount;
  /** Ignores requests for base64 and answers in plain numbers, as many compatible servers do. */
  floatsOnly?: boolean;
  /** Items per call beyond which it answers 413. Default: the provider's documented limit, answered with 400. */
  maxItems?: number;
  /** Port to listen on. Default: any free one. */
  port?: number;
}
