import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeRepo } from "../../../src/lib/repo.ts";
import { cloneAddress } from "../../../src/service/sources/clone-address.ts";

describe("pasted clone addresses", () => {
  it.each([
    ["git@github.com:Owner/name.git", "https://github.com/owner/name"],
    ["ssh://git@git.example.com/team/app.git", "https://git.example.com/team/app"],
    [" github.com/owner/name ", "https://github.com/owner/name"],
    ["https://github.com/Owner/name/tree/main/src?plain=1#L3", "https://github.com/Owner/name"],
    ["https://github.com/owner/name?tab=readme", "https://github.com/owner/name"],
    ["https://github.com/owner/name/", "https://github.com/owner/name"],
    ["https://gitlab.com/group/sub/name/-/blob/main/a.ts#L1", "https://gitlab.com/group/sub/name"],
    ["https://gitlab.com/group/sub/name/", "https://gitlab.com/group/sub/name"],
    ["https://bitbucket.org/owner/name/src/main/", "https://bitbucket.org/owner/name"],
  ])("%s is %s", (pasted, address) => expect(cloneAddress(pasted)).toBe(address));

  it.each([
    "https://git.example.com/a/b/c",
    "https://git.example.com/a/b?token=x",
    "https://user:secret@github.com/a/b",
    "https://github.com.example.com/a/b/c",
    "http://127.0.0.1:8080/a/b",
    "ssh://git@git.example.com:2222/a/b",
    "owner/name",
    "not an address",
    "",
  ])("%j stays as it is", (text) => expect(cloneAddress(text)).toBe(text));

  it("keeps the repository of every address that had one, and is idempotent", () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
    const host = fc.constantFrom("github.com", "bitbucket.org", "git.example.com");
    fc.assert(
      fc.property(
        host,
        word,
        word,
        fc.constantFrom("git@H:P", "ssh://git@H/P", "H/P", "https://H/P.git"),
        (h, a, b, form) => {
          const text = form.replace("H", h).replace("P", `${a}/${b}`);
          expect(normalizeRepo(cloneAddress(text))).toBe(normalizeRepo(text));
          expect(cloneAddress(cloneAddress(text))).toBe(cloneAddress(text));
        },
      ),
    );
  });

  it("reads a hostile text once", () => {
    const text = `https://gitlab.com/${"/-".repeat(990)}`;
    expect(cloneAddress(text)).toContain("gitlab.com");
    expect(cloneAddress(`git@${":".repeat(1_000_000)}`)).toHaveLength(1_000_004);
  });
});
