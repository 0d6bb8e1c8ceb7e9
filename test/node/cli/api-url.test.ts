import { describe, expect, it } from "vitest";
import { checkApiUrl } from "../../../src/cli/context.ts";

describe("the address of the service", () => {
  it.each(["http://localhost:8787", "https://api.example.com", "https://app.example.com/api/v1"])(
    "may be %s",
    (address) => {
      expect(checkApiUrl(`${address}/`)).toBe(address);
    },
  );

  it.each([
    ["localhost:8787", "http://localhost:8787"],
    ["127.0.0.1:8787/api/v1", "http://127.0.0.1:8787/api/v1"],
    ["api.example.com", "https://api.example.com"],
  ])("%s lacks its scheme, which the error names", (typed, meant) => {
    const message = `not a URL of a service: ${typed}; an address starts with its scheme: ${meant}`;
    expect(() => checkApiUrl(typed)).toThrow(expect.objectContaining({ code: "BAD_API_URL", message }));
  });

  it.each(["ftp://example.com", "mailto:ada@example.com", "ada:hunter2@example.com", "file:///tmp/x", ""])(
    "%j has no address to suggest, and its password is not repeated",
    (typed) => {
      expect(() => checkApiUrl(typed)).toThrow(/^not a URL of a service: (?!.*(?:hunter2|its scheme))/);
    },
  );
});
