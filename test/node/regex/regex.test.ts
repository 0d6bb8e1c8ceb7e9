import { describe, expect, it } from "vitest";
import { findExpressions, superlinearUnit } from "./probe.ts";

/** Expressions whose input is short whoever sends it, by file: what bounds it. */
const BOUNDED: Record<string, Record<string, string>> = {
  "src/cli/commands/doctor.ts": { "(\\d+)\\.(\\d+)": "the version that git prints" },
  "src/cli/commands/setup.ts": {
    '^\\s*\\[\\s*mcp_servers\\s*\\.\\s*(?:codectx|"codectx")\\s*\\]': "the user's own configuration file",
    "\\n*$": "the user's own configuration file",
  },
  "src/cli/context.ts": { "\\/+$": "the URL that the user has configured" },
  "src/cli/exit-codes.ts": { "\\s*\\n\\s*": "the message of an error" },
  "src/cli/main.ts": { "\\s*\\n\\s*": "the message of an error" },
  "src/client/transport.ts": { "\\/+$": "the URL that the caller has configured" },
  "src/embedding/config.ts": { "\\/+$": "the URL that the operator has configured" },
  "src/gate/source.ts": { "%.*$": "an address in one line of a header" },
  "src/git/wire/http.ts": { "\\/+$": "a source URL of at most 2,000 characters" },
  "src/git/wire/url.ts": { "\\.+$": "the host of a source URL" },
  "src/parsing/detect.ts": { "[\\d.]+$": "an interpreter's name in the first 256 bytes" },
  "src/parsing/prose.ts": {
    "(?:\\s*(?:\\\\|\\{|=>|->|=|:|\\bdo|\\bbegin|\\bthen|;|,))+$": "the first 1,200 characters of a declaration",
  },
  "src/release/manifest.ts": { "\\[([^\\]\\n]*)\\]\\((?!https?:|#)([^)\\s]+)\\)": "this repository's README" },
  "src/snapshot/publish/presign.ts": { "\\/+$": "the URL that the operator has configured" },
};

describe("regular expressions of the sources", () => {
  const expressions = findExpressions();

  it("are found", () => {
    expect(expressions.length).toBeGreaterThan(400);
  });

  it("take linear time, or see short texts only", { timeout: 120_000 }, () => {
    const found = expressions
      .filter(({ file, source }) => BOUNDED[file]?.[source] === undefined)
      .flatMap((expression) => {
        // Twice, so that a busy machine is no finding.
        const unit = superlinearUnit(expression) && superlinearUnit(expression);
        return unit === undefined
          ? []
          : [`${expression.file}: /${expression.source}/ on ${JSON.stringify(unit)}, repeated`];
      });
    expect(found).toEqual([]);
  });

  it("are tried in a way that notices quadratic and exponential ones", () => {
    // Five attempts each: a busy machine may hide one.
    const noticed = (source: string) =>
      Array.from({ length: 5 }).some(() => superlinearUnit({ file: "", source, flags: "" }) !== undefined);
    for (const source of ["\\/+$", "key\\w*=", "a.*b.*c"]) expect(noticed(source), source).toBe(true);
    for (const source of ["^\\/+", "[a-z]+", "x{1,20}$"])
      expect(superlinearUnit({ file: "", source, flags: "" }), source).toBeUndefined();
  });

  it("are listed as bounded only where they still are", () => {
    for (const [file, sources] of Object.entries(BOUNDED)) {
      for (const source of Object.keys(sources))
        expect(
          expressions.some((found) => found.file === file && found.source === source),
          `${file}: ${source}`,
        ).toBe(true);
    }
  });
});
