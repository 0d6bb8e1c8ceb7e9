import type { CredentialScope } from "./credentials.ts";

/** Default rate-limit budgets by surface. Each pair of surface and subject has its own bucket. */
export const SURFACES = {
  /** `/embed`, `/rerank` and `/usage` together. */
  metered: { limit: 600, windowSec: 60, subject: "tenant" },
  index: { limit: 30, windowSec: 3_600, subject: "tenant" },
  index_status: { limit: 600, windowSec: 60, subject: "tenant" },
  index_snapshot: { limit: 300, windowSec: 60, subject: "tenant" },
  snapshot: { limit: 30, windowSec: 3_600, subject: "tenant" },
  search: { limit: 600, windowSec: 60, subject: "tenant" },
  /** Tool calls. */
  mcp: { limit: 600, windowSec: 60, subject: "tenant" },
  /** MCP messages that are no tool calls. */
  "mcp-messages": { limit: 3_000, windowSec: 60, subject: "tenant" },
  /** Making and revoking tokens. */
  tokens: { limit: 60, windowSec: 60, subject: "tenant" },
  healthz: { limit: 600, windowSec: 60, subject: "ip" },
  /** Requests that fail authentication. */
  unauthorized: { limit: 600, windowSec: 60, subject: "ip" },
  hook: { limit: 600, windowSec: 60, subject: "hook" },
  dashboard_read: { limit: 600, windowSec: 60, subject: "user" },
  dashboard_mutation: { limit: 120, windowSec: 60, subject: "user" },
  sign_in_email: { limit: 5, windowSec: 600, subject: "email" },
  /** Sign-in codes requested from one source address, for any e-mail address. */
  sign_in_source: { limit: 300, windowSec: 600, subject: "ip" },
  /** Registrations of OAuth clients, and requests for tokens. */
  oauth: { limit: 300, windowSec: 60, subject: "ip" },
  invitation: { limit: 30, windowSec: 3_600, subject: "tenant" },
} as const satisfies Record<
  string,
  { limit: number; windowSec: number; subject: "tenant" | "ip" | "user" | "email" | "hook" }
>;

export type Surface = keyof typeof SURFACES;

/** The scope that a narrow credential needs for a surface. Routes of `metered` need that of their model. */
export const SCOPE_OF_SURFACE: Partial<Record<Surface, CredentialScope>> = {
  index: "index",
  index_status: "index",
  index_snapshot: "snapshot",
  snapshot: "snapshot",
  search: "search",
  mcp: "search",
  "mcp-messages": "search",
};

/** Calls that `GET /usage` counts. */
export type CallKind = "embed" | "rerank" | "index" | "snapshot" | "search";
