import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeRepo } from "../../../src/service/tenancy/index.ts";

describe("normalizeRepo", () => {
  it.each([
    ["https://GitHub.com/Owner/Repo.git", "github.com/owner/repo"],
    ["git@github.com:Owner/Repo", "github.com/owner/repo"],
    ["git@github.com:Owner/Repo.git", "github.com/owner/repo"],
    ["github.com:owner/repo", "github.com/owner/repo"],
    ["ssh://git@github.com/owner/repo.git/", "github.com/owner/repo"],
    ["ssh://git@github.com:22/owner/repo", "github.com/owner/repo"],
    ["ssh://git@ssh.github.com:443/owner/repo.git", "github.com/owner/repo"],
    ["git://github.com/owner/repo", "github.com/owner/repo"],
    ["git+https://github.com/owner/repo.git", "github.com/owner/repo"],
    ["http://www.github.com/owner/repo///", "github.com/owner/repo"],
    ["HTTPS://user:pa%20ss@github.com:443/Owner/Repo", "github.com/owner/repo"],
    ["  github.com/owner/repo ", "github.com/owner/repo"],
    ["https://gitlab.com/Group/Sub/Repo.git", "gitlab.com/group/sub/repo"],
    ["https://bitbucket.org/Team/Repo", "bitbucket.org/team/repo"],
    ["https://Git.Example.org/Owner/Repo.git", "git.example.org/Owner/Repo"],
    ["git@git.example.org:Owner/Repo.git", "git.example.org/Owner/Repo"],
    ["git@git.example.org:/srv/git/Repo.git", "git.example.org/srv/git/Repo"],
    ["ssh://git@git.example.org:2222/Owner/Repo", "git.example.org:2222/Owner/Repo"],
    ["https://git.example.org./a/b", "git.example.org/a/b"],
    ["http://127.0.0.1:8080/repo", "127.0.0.1:8080/repo"],
    ["http://[::1]:8080/repo.git", "[::1]:8080/repo"],
    ["https://git.example.org/c++/a b".replace(" ", "%20"), "git.example.org/c++/a%20b"],
    ["https://bücher.example/a/b", "xn--bcher-kva.example/a/b"],
    ["git@intranet:team/repo", "intranet/team/repo"],
    ["https://git.example.org/pub/scm/git/git.git", "git.example.org/pub/scm/git/git"],
  ])("%s is %s", (input, identity) => {
    expect(normalizeRepo(input)).toBe(identity);
    expect(normalizeRepo(identity)).toBe(identity);
  });

  it.each([
    "",
    " ",
    "owner/repo",
    "repo",
    "/srv/git/repo",
    "./repo",
    "../repo",
    "C:\\code\\repo",
    "C:/code/repo",
    "file:///srv/repo",
    "ftp://github.com/owner/repo",
    "https://github.com",
    "https://github.com/",
    "https://github.com/owner",
    "https://github.com/owner/repo/tree/main",
    "https://github.com/owner/.git",
    "https://github.com/owner//repo",
    "https://github.com/owner/re po",
    "https://github.com/owner/repo?tab=readme",
    "https://github.com/owner/repo#readme",
    "https://git.example.org/a/../b",
    "https://git.example.org/%2e%2e/b",
    "https://git.example.org/%zz/b",
    "https://git.example.org/a%00b/c",
    "https://-/a/b",
    "https://a..b/c/d",
    "https:///a/b",
    "git@:owner/repo",
    `https://github.com/owner/${"a".repeat(2000)}`,
  ])("%s is no repository", (input) => {
    expect(normalizeRepo(input)).toBeUndefined();
  });

  const segment = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,20}$/).filter((text) => !/\.git$/i.test(text));
  const host = fc.constantFrom(
    "github.com",
    "GitHub.COM",
    "gitlab.com",
    "bitbucket.org",
    "git.example.org",
    "10.0.0.7",
  );

  it("gives one identity to all ways of writing an address", () => {
    fc.assert(
      fc.property(
        host,
        segment,
        segment,
        fc.constantFrom("", "/", "//"),
        fc.boolean(),
        (name, owner, repo, slash, git) => {
          const end = `${git ? ".git" : ""}${slash}`;
          const identities = [
            `https://${name}/${owner}/${repo}${end}`,
            `https://someone:secret@${name}:443/${owner}/${repo}${end}`,
            `ssh://git@${name}/${owner}/${repo}${end}`,
            `git://${name}/${owner}/${repo}${end}`,
            `git@${name}:${owner}/${repo}${end}`,
            `${name}/${owner}/${repo}${end}`,
          ].map(normalizeRepo);
          expect(identities[0]).toBeDefined();
          expect(new Set(identities).size).toBe(1);
          expect(identities[0]).not.toContain("secret");
        },
      ),
    );
  });

  it("is its own fixed point and never throws, whatever it is given", () => {
    const pieces = fc.constantFrom(
      "https://",
      "ssh://",
      "git@",
      ":",
      "/",
      ".",
      "..",
      ".git",
      "%",
      "%25",
      "%41",
      "[",
      "]",
      "@",
      "host",
      "a.b",
    );
    const input = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 }))).map((list) => list.join("")),
    );
    fc.assert(
      fc.property(input, (text) => {
        const identity = normalizeRepo(text);
        if (identity !== undefined) expect(normalizeRepo(identity)).toBe(identity);
      }),
      { numRuns: 800 },
    );
  });
});
