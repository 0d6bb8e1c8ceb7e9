import type { ScoredTerm } from "../../../src/engines/search/score.ts";
import { WordEvidence } from "../../../src/engines/search/word-evidence.ts";
import { describe, expect, it } from "vitest";
import { parseQuery } from "../../../src/engines/search/query.ts";
import { search } from "../../../src/engines/search/search.ts";
import { coldIndex, type TestFile, textsOf } from "./support.ts";

/** A function that returns the paths of the results of a query. */
async function searchIn(files: readonly TestFile[]) {
  const index = await coldIndex(files);
  const texts = textsOf(files);
  return async (query: string) => (await search(index, { query }, texts)).results.map(({ path }) => path);
}

describe("a question of where to add one more of something", () => {
  it("leads to what is used, or to a list", async () => {
    const app: TestFile = {
      path: "src/app.ts",
      language: "typescript",
      text: "class App {\n  use(handler: Handler): void {\n    this.chain.push(handler);\n  }\n}",
      symbols: [{ name: "use", qualifiedName: "App.use", kind: "method", startLine: 2, endLine: 4 }],
    };
    const defs: TestFile = {
      path: "src/defs.rs",
      language: "rust",
      text: "pub const FLAGS: &[&dyn Flag] = &[&Regexp, &File];",
      symbols: [{ name: "FLAGS", kind: "constant", startLine: 1, endLine: 1 }],
    };
    const timing = { path: "src/timing.ts", language: "typescript", text: "/** A middleware that adds a new flag. */" };
    const found = await searchIn([app, defs, timing]);
    expect(await found("how do I add a new middleware?")).toContain("src/app.ts");
    expect(await found("add a new flag")).toContain("src/defs.rs");
    expect(await found("the middleware that adds a header")).toEqual(["src/timing.ts"]);
  });

  it("is read without its frame, and may be of several words", () => {
    const { terms, identifiers } = parseQuery({ query: "How do I add my own builtin function?" });
    expect(terms.map(({ shown }) => shown)).toEqual(["add", "builtin", "function"]);
    expect(identifiers.map(({ key }) => key)).toEqual(
      expect.arrayContaining(["add_builtin_function", "function_list", "functions"]),
    );
  });

  it("leads to the type that has the name of the thing, and not to a field", async () => {
    const files: TestFile[] = [
      {
        path: "src/kinds.rs",
        language: "rust",
        text: "pub enum Command {\n    Get(Get),\n}",
        symbols: [{ name: "Command", kind: "enum", startLine: 1, endLine: 3 }],
      },
      {
        path: "src/entry.go",
        language: "go",
        text: "type Entry struct {\n\tcommand string\n}",
        symbols: [{ name: "command", qualifiedName: "Entry.command", kind: "field", startLine: 2, endLine: 2 }],
      },
    ];
    const { results } = await search(await coldIndex(files), { query: "add a new command" }, textsOf(files));
    const defining = results.filter(({ matched }) => matched.some(({ kind }) => kind === "definition"));
    expect(defining.map(({ path }) => path)).toEqual(["src/kinds.rs"]);
  });
});

describe("names that code has for what a question asks", () => {
  it("are verbs joined with the word behind them; those that nothing has do not count", async () => {
    const found = await searchIn([
      { path: "src/page.ts", language: "typescript", text: "/** The time of day. */\nexport const time = clock();" },
      {
        path: "src/wait.ts",
        language: "typescript",
        text: "export const timeout = 30_000;\nrequest.timeout = timeout;",
      },
    ]);
    expect((await found("what happens when the request times out"))[0]).toBe("src/wait.ts");
    expect(await found("where is the user logged in")).toEqual([]);
    const { terms } = parseQuery({ query: "how many users are logged in" });
    expect(terms.filter(({ isOptional }) => isOptional).map(({ shown }) => shown)).toEqual([
      "max",
      "limit",
      "count",
      "login",
    ]);
  });

  it("are the verbs of irregular past forms", async () => {
    const found = await searchIn([
      { path: "src/corners.ts", language: "typescript", text: "/** Where shapes end. */\nexport const corners = 1;" },
      {
        path: "src/link.ts",
        language: "typescript",
        text: "export function bindArrow(shape: Shape) {\n  bind(shape);\n}",
      },
    ]);
    expect((await found("how are arrows bound to shapes"))[0]).toBe("src/link.ts");
    expect(
      parseQuery({ query: "how is the constructor bound" }).terms.map(({ shown, weight }) => [shown, weight]),
    ).toEqual([
      ["constructor", 1],
      ["bound", 1],
      ["bind", 0.7],
    ]);
  });

  it("are British and American spellings, of which only those that the repository has count", async () => {
    const forms = (query: string): string[] =>
      parseQuery({ query }).terms.flatMap(({ shown, isOptional }) => (isOptional ? [shown] : []));
    expect(forms("how are calls cancelled")).toEqual(["canceled"]);
    expect(forms("canceling labeled colours")).toEqual(["cancelling", "labelled", "colors"]);
    expect(forms("initialise the analyzer")).toEqual(["initialize", "analyser"]);
    const found = await searchIn([
      { path: "src/calls.ts", language: "typescript", text: "export let canceled = false;" },
      { path: "src/promise.ts", language: "typescript", text: "export const promise = 1;" },
    ]);
    expect(await found("how are requests cancelled")).toEqual(["src/calls.ts"]);
    expect(await found("promise")).toEqual(["src/promise.ts"]);
  });

  it("are the verbs alone where a question has both", () => {
    const shown = (query: string): string[] => parseQuery({ query }).terms.map((term) => term.shown);
    expect(shown("where is the write ahead log written")).toEqual(["write", "ahead", "log"]);
    expect(shown("is write_written written")).toContain("written");
  });
});

describe("words in a row", () => {
  it("lead to the definition that has them as its name", async () => {
    const define = (path: string, name: string, text: string): TestFile => ({
      path,
      language: "python",
      text,
      symbols: [{ name, kind: "class", startLine: 1, endLine: 2 }],
    });
    const files = [
      define("models.py", "OAuth2", "class OAuth2(Base):\n    bearer = password = bearer_password = None"),
      define("oauth2.py", "OAuth2PasswordBearer", "class OAuth2PasswordBearer(OAuth2):\n    pass"),
    ];
    const { results } = await search(await coldIndex(files), { query: "OAuth2 password bearer" }, textsOf(files));
    expect(results[0]?.path).toBe("oauth2.py");
    expect(results[0]?.matched).toContainEqual({ kind: "definition", text: "OAuth2 password bearer" });
  });

  it("are two or three, between stop words and names that are joined already, also in the singular", () => {
    const keys = (query: string): string[] => parseQuery({ query }).identifiers.map(({ key }) => key);
    expect(keys("where is the token bucket of a tenant refilled")).toEqual([
      "tokenbucket",
      "token_bucket",
      "tenantrefilled",
      "tenant_refilled",
    ]);
    expect(keys("how do rate limiters work")).toContain("ratelimiter");
    expect(keys("readFile buffer")).toEqual(["readfile"]);
    expect(keys("one\ntwo three four five")).toEqual([]);
  });
});

describe("words that nearly all files have", () => {
  it("count less in names", () => {
    const term = (stem: string, fileIdf: number): ScoredTerm => ({
      hash: 0,
      stem,
      shown: stem,
      weight: 1,
      isWhole: false,
      idf: 1,
      fileIdf,
    });
    const words = new WordEvidence([term("acme", 0.03), term("reload", 2)]);
    expect(words.match(["acme"]).share).toBeCloseTo(0.1);
    expect(words.match(["reload"]).share).toBe(1);
  });
});
