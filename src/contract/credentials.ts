import * as z from "zod";
import { nonEmptyText } from "./text.ts";

/** What a credential may be used for. API keys have all but `index`, worker tokens `index` and `snapshot`. */
export const SCOPES = ["search", "embed", "rerank", "snapshot", "index"] as const;
export type CredentialScope = (typeof SCOPES)[number];

/** Repositories of a narrow credential. */
export const MAX_TOKEN_REPOS = 100;
/** Generations below a credential that was made in the dashboard. */
export const MAX_TOKEN_DEPTH = 3;
/** Unexpired, unrevoked tokens made from one credential. */
export const MAX_LIVE_TOKENS = 100;
const MIN_TOKEN_TTL_SEC = 60;
/** 30 days. */
const MAX_TOKEN_TTL_SEC = 2_592_000;
/** Largest value of the integer columns that hold credits. */
const MAX_CREDITS = 2 ** 31 - 1;
const MAX_RATE = 100_000;

/** How a credential is narrower than its tenant. What is absent is not restricted. */
export const Restrictions = z.object({
  repos: z
    .array(nonEmptyText.max(1_000))
    .min(1)
    .max(MAX_TOKEN_REPOS)
    .optional()
    .describe("Repositories (`github.com/owner/name`); for this credential others do not exist."),
  scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).optional().describe("What the credential may be used for."),
  monthlyCredits: z
    .int()
    .min(0)
    .max(MAX_CREDITS)
    .optional()
    .describe("Credits in a UTC calendar month, those of tokens made from it included."),
  ratePerMinute: z
    .int()
    .min(1)
    .max(MAX_RATE)
    .optional()
    .describe("Requests per minute on all surfaces, those of tokens made from it included."),
});
export type Restrictions = z.infer<typeof Restrictions>;

export const TokenRequest = Restrictions.extend({
  name: nonEmptyText.max(200).optional().describe("Shown in the dashboard and the audit log."),
  ttlSeconds: z.int().min(MIN_TOKEN_TTL_SEC).max(MAX_TOKEN_TTL_SEC).describe("Lifetime in seconds."),
}).meta({ id: "TokenRequest" });
export type TokenRequest = z.infer<typeof TokenRequest>;

export const TokenResponse = z
  .object({
    ok: z.literal(true),
    token: z.string().describe("The whole credential; shown once and never stored."),
    id: z.string().describe("Its public id, which names it in the audit log and revokes it."),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: "TokenResponse" });
export type TokenResponse = z.infer<typeof TokenResponse>;

export const RevokeTokenResponse = z
  .object({ ok: z.literal(true), revoked: z.boolean().describe("False if it was revoked before.") })
  .meta({ id: "RevokeTokenResponse" });
export type RevokeTokenResponse = z.infer<typeof RevokeTokenResponse>;
