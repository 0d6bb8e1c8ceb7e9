import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Restrictions, SCOPES } from "../../../src/contract/credentials.ts";
import { checkRestrictions, hasScope, mayUseRepo, narrow } from "../../../src/service/tenancy/restrictions.ts";

const REPOS = ["github.com/a/one", "github.com/a/two", "github.com/b/three"];
const restrictions: fc.Arbitrary<Restrictions> = fc.record(
  {
    repos: fc.uniqueArray(fc.constantFrom(...REPOS), { minLength: 1 }),
    scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1 }),
    monthlyCredits: fc.nat(100),
    ratePerMinute: fc.integer({ min: 1, max: 100 }),
  },
  { requiredKeys: [] },
);

describe("a token", () => {
  it("is refused or allows nothing that its parent does not allow", () => {
    fc.assert(
      fc.property(restrictions, restrictions, (above, asked) => {
        let parent: Restrictions;
        let made: Restrictions;
        try {
          parent = checkRestrictions("api_key", above);
          made = narrow("api_key", parent, asked);
        } catch {
          return;
        }
        for (const repo of [...REPOS, "github.com/c/four", null])
          if (mayUseRepo(made, repo)) expect(mayUseRepo(parent, repo)).toBe(true);
        for (const scope of SCOPES)
          if (hasScope("api_key", made, scope)) expect(hasScope("api_key", parent, scope)).toBe(true);
        for (const field of ["monthlyCredits", "ratePerMinute"] as const)
          expect(made[field] ?? 0).toBeLessThanOrEqual(parent[field] ?? Infinity);
      }),
      { numRuns: 300 },
    );
  });

  it("has its parent's repositories and scopes where it asks for none, and names them by identity", () => {
    const parent = { repos: ["github.com/a/one"], scopes: ["search" as const] };
    expect(narrow("api_key", parent, {})).toEqual(parent);
    expect(narrow("api_key", {}, { repos: ["https://GitHub.com/A/One.git", "github.com/a/one"] })).toEqual({
      repos: ["github.com/a/one"],
    });
  });

  it.each<[Restrictions, Restrictions, string]>([
    [{ repos: ["github.com/a/one"] }, { repos: ["github.com/a/two"] }, "repos: a token cannot be wider"],
    [{ scopes: ["search"] }, { scopes: ["search", "embed"] }, "scopes: a token cannot be wider"],
    [{ monthlyCredits: 5 }, { monthlyCredits: 6 }, "the credential that makes the token has 5"],
    [{ ratePerMinute: 5 }, { ratePerMinute: 6 }, "the credential that makes the token has 5"],
    [{}, { scopes: ["index"] }, "an API key cannot have index"],
    [{}, { repos: ["not a repository"] }, "is not a repository's identity"],
  ])("of %j that asks for %j is refused", (parent, asked, message) => {
    expect(() => narrow("api_key", parent, asked)).toThrow(message);
  });

  it("of a worker token indexes, and never searches", () => {
    expect(hasScope("worker_token", {}, "index")).toBe(true);
    expect(hasScope("worker_token", {}, "search")).toBe(false);
    expect(hasScope("api_key", {}, "index")).toBe(false);
  });
});
