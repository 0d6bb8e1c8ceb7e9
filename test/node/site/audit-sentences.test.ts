import { describe, expect, it } from "vitest";
import { AUDIT_EVENTS } from "../../../src/service/audit/events.ts";
import { auditSentence } from "../../../src/workers/site/views/audit-sentences.ts";

const PEOPLE = new Map([["u1", "ada@example.com"]]);

describe("an audit event", () => {
  it.each([
    ["RATE_LIMITED", { surface: "search", rejected: 12 }, "sent 12 requests more than the rate limit of search allows"],
    ["MEMBER_ROLE_CHANGED", { userId: "u1", role: "admin" }, "made ada@example.com an admin"],
    ["MEMBER_REMOVED", { userId: "u2" }, "removed a former member from the team"],
    [
      "KEY_CREATED",
      { kind: "api_key", name: "laptop", userId: "u1", expiresAt: "2026-12-01T00:00:00.000Z" },
      "made the API key “laptop” of ada@example.com, until 2026-12-01",
    ],
    ["KEY_CREATED", { kind: "api_key", name: "Claude", userId: "u1", clientId: "c" }, "connected the agent “Claude”"],
    [
      "SOURCE_CHANGED",
      { from: "https://a.example/x.git", to: "https://b.example/x.git", hasToken: false, tokenRemoved: true },
      "changed a clone address from https://a.example/x.git to https://b.example/x.git; the read token was removed",
    ],
    ["SOURCE_CHANGED", { hasToken: true }, "changed a source; with a read token"],
    [
      "TENANT_CHANGED",
      { changeId: "c", name: "Acme", monthlyCredits: 5, mailRuns: false },
      "named the team “Acme”, set the credits of a month to 5, switched mail about runs off",
    ],
    ["WORKSPACE_CREATED", { repo: null }, "connected a repository"],
  ])("%s %j", (event, details, sentence) => {
    expect(auditSentence(event, details, PEOPLE)).toBe(sentence);
  });

  it("of any name and form has a sentence without gaps, or none", () => {
    const some = { role: "member", name: "n", kind: "api_key", provider: "github" };
    for (const event of [...AUDIT_EVENTS, "LATER", "constructor"]) {
      for (const details of [some, { ...some, email: 7, surface: "search", userId: "u1", credentialId: "c" }, {}]) {
        expect(auditSentence(event, details, PEOPLE) ?? "").not.toMatch(/undefined|null|object/);
      }
    }
    for (const event of [
      "SNAPSHOT_PUBLISHED",
      "INVITATION_SENT",
      "MEMBER_JOINED",
      "KEY_CREATED",
      "HOOK_CREATED",
      "LATER",
    ])
      expect(auditSentence(event, {}, PEOPLE)).toBeUndefined();
  });
});
