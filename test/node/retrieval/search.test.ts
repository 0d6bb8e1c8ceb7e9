import { beforeAll, describe, expect, it } from "vitest";
import { findSymbols, outlineOf } from "../../../src/engines/search/lookups.ts";
import { nearPaths } from "../../../src/lib/near-path.ts";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { findReferences } from "../../../src/engines/search/references.ts";
import { search } from "../../../src/engines/search/search.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import type { SearchAnswer, SearchRequest } from "../../../src/engines/search/types.ts";
import { openShop } from "./shop.ts";
import { coldIndex, contentOf, openFiles, segmentOf, type TestFile, textsOf } from "./support.ts";

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  shop = await openShop();
});

async function ask(query: string, request: Partial<SearchRequest> = {}): Promise<SearchAnswer> {
  return search(shop.index, { query, ...request }, shop.texts);
}
async function paths(query: string, request: Partial<SearchRequest> = {}): Promise<string[]> {
  return (await ask(query, request)).results.map(({ path }) => path);
}

async function open(files: readonly TestFile[]) {
  return { index: await coldIndex(files), texts: textsOf(files) };
}

/** Questions and the file that answers them. */
const QUESTIONS: [query: string, path: string][] = [
  ["Cart", "src/cart/cart.ts"],
  ["add an item to the cart", "src/cart/cart.ts"],
  ["how is a discount applied", "src/cart/discount.ts"],
  ["PaymentGateway", "src/checkout/payment_gateway.ts"],
  ["charging a card is retried after a timeout", "src/checkout/payment_gateway.ts"],
  ["placeOrder", "src/checkout/index.ts"],
  ["when do sessions expire", "src/auth/session.py"],
  ["SessionStore.open_session", "src/auth/session.py"],
  ["password hashing", "src/auth/password.py"],
  ["reserve stock in the warehouse", "lib/inventory.go"],
  ["Shop::Mailer", "lib/mailer.rb"],
  ["split text into words", "src/search/tokenizer.ts"],
  ["format a date as ISO 8601", "src/utils/date.ts"],
  ["tests for the cart", "tests/cart.test.ts"],
  ["documentation of payments", "docs/payments.md"],
  ["example of placing an order", "examples/checkout_demo.ts"],
];

describe("search", () => {
  it("finds what is asked for: the floor under the ranking", async () => {
    const ranks = await Promise.all(QUESTIONS.map(async ([query, path]) => (await paths(query)).indexOf(path)));
    const missed = QUESTIONS.filter((_, i) => ranks[i] !== 0).map(([query], i) => `${query}: ${ranks[i]}`);
    const ndcg = ranks.reduce((sum, rank) => sum + (rank < 0 ? 0 : 1 / Math.log2(rank + 2)), 0) / ranks.length;
    expect(ndcg, missed.join("; ")).toBeGreaterThanOrEqual(0.97);
  });

  it("shows the definition with its lines, its signature and why it was found", async () => {
    const [first] = (await ask("applyDiscount")).results;
    expect(first).toMatchObject({
      path: "src/cart/discount.ts",
      language: "typescript",
      symbol: { name: "applyDiscount", qualifiedName: "applyDiscount", kind: "function" },
    });
    expect(first?.symbol?.signature).toContain("applyDiscount(cart: Cart, percent: number)");
    const { startLine, endLine } = first ?? {};
    expect(first?.excerpts[0]).toMatchObject({ startLine, endLine, symbol: "applyDiscount" });
    expect(first?.excerpts[0]?.text).toContain("Math.max(0,");
    expect(first?.matched).toContainEqual({ kind: "definition", text: "applyDiscount" });
  });

  it("shows what surrounds the best symbol in its chunk, and still names the symbol's lines", async () => {
    const lines = [
      "const limit = 3;",
      "",
      "function evictOldest() {",
      "  drop(entries);",
      "}",
      "",
      "function drop() {",
      "  free();",
      "}",
    ];
    const symbols = [
      { name: "evictOldest", startLine: 3, endLine: 5 },
      { name: "drop", startLine: 7, endLine: 9 },
    ];
    const { index, texts } = await open([
      { path: "src/store.js", language: "javascript", text: lines.join("\n"), symbols },
    ]);
    const { results } = await search(index, { query: "which entries are the oldest to evict" }, texts);
    expect(results[0]).toMatchObject({ startLine: 3, endLine: 5, symbol: { name: "evictOldest" } });
    expect(results[0]?.excerpts).toMatchObject([{ startLine: 1, endLine: 9 }]);
  });

  it("filters by path, language and kind", async () => {
    expect(await paths("cart", { paths: ["tests/**"] })).toEqual(["tests/cart.test.ts"]);
    expect(await paths("cart path:docs")).toEqual(["docs/cart.md"]);
    expect(new Set((await ask("session lang:python")).results.map(({ language }) => language))).toEqual(
      new Set(["python"]),
    );
    expect(await paths("session", { languages: ["go"] })).toEqual([]);
    for (const { symbol } of (await ask("cart item", { kinds: ["class"] })).results) expect(symbol?.kind).toBe("class");
  });

  it("takes quoted text literally", async () => {
    expect(await paths('"new Map<string, CartLine>"')).toEqual(["src/cart/cart.ts"]);
    expect(await paths('"new Map<string, NoSuchLine>"')).toEqual([]);
  });

  it("finds a literal wherever it stands in a file, and shows that place", async () => {
    const filler = (name: string): string =>
      Array.from({ length: 40 }, (_, i) => `${name} retry budget of step ${i} = ${i};`).join("\n");
    const files = Array.from({ length: 120 }, (_, i) => ({
      path: `src/part${i}.ts`,
      language: "typescript",
      text: `${filler("const")}\n// ${i % 2 === 0 ? "the odd retry budget is spent" : "nothing"}\n${filler("let")}`,
    }));
    const opened = await open(files);
    const answer = await search(opened.index, { query: '"odd retry budget is sp"', limit: 50 }, opened.texts);
    expect(answer.total).toBe(60);
    const [first] = answer.results;
    expect(first?.startLine).toBeLessThanOrEqual(41);
    expect(first?.endLine).toBeGreaterThanOrEqual(41);
    const next = await search(opened.index, { query: '"odd retry budget is sp"', offset: 50 }, opened.texts);
    expect(next.results).toHaveLength(10);
  });

  it("shows the definition that its name tells, and a body rather than a prototype", async () => {
    const body = (name: string): string => `int ${name}(int cookie) {\n  cookie++;\n  return cookie;\n}\n`;
    const text = `int parse(int cookie);\n${"\n".repeat(24)}/* cookies, parsed cookies and parsers of a cookie */\n${body("makeSignature")}${"\n".repeat(24)}${body("parse")}`;
    const lines = text.split("\n");
    const symbolAt = (name: string, startLine: number, endLine: number) => ({ name, startLine, endLine });
    const start = (name: string): number => lines.lastIndexOf(`int ${name}(int cookie) {`) + 1;
    const opened = await open([
      {
        path: "src/cookie.c",
        language: "c",
        text,
        symbols: [
          symbolAt("parse", 1, 1),
          symbolAt("makeSignature", start("makeSignature"), start("makeSignature") + 3),
          symbolAt("parse", start("parse"), start("parse") + 3),
        ],
      },
      ...["a", "b", "c", "d", "e"].map((name) => ({
        path: `src/${name}.c`,
        language: "c",
        text: body(`other_${name}`).replaceAll("cookie", "x"),
      })),
    ]);
    for (const query of ["how are cookies parsed", "parse"]) {
      const [first] = (await search(opened.index, { query }, opened.texts)).results;
      expect(first).toMatchObject({ symbol: { name: "parse" }, startLine: start("parse") });
    }
    const { symbols } = await findSymbols(opened.index, { name: "parse" }, opened.texts);
    expect(symbols.map(({ startLine }) => startLine)).toEqual([start("parse"), 1]);
  });

  it("puts tests, docs, examples and old code behind, until they are asked for", async () => {
    const found = await paths("cart total price");
    expect(found[0]).toBe("src/cart/cart.ts");
    expect(found.indexOf("tests/cart.test.ts")).toBeGreaterThan(0);
    expect((await paths("cart total price", { include: ["tests"] })).indexOf("tests/cart.test.ts")).toBeLessThan(
      found.indexOf("tests/cart.test.ts"),
    );
  });

  it("reads an issue with its trace", async () => {
    const issue = `Users are signed out too early
### Environment
python 3.12.1
\`\`\`
Traceback (most recent call last):
  File "/usr/lib/app/src/auth/session.py", line 12, in expire_sessions
KeyError: 'ann'
\`\`\`
The session should last 30 minutes.`;
    expect((await paths(issue))[0]).toBe("src/auth/session.py");
  });

  it("fits its snippets into the budget, whatever it is", async () => {
    const whole = await ask("cart item price card", { maxTokens: 32_000 });
    for (const maxTokens of [200, 100, 20, 1]) {
      const answer = await ask("cart item price card", { maxTokens });
      expect(answer.tokens).toBeLessThanOrEqual(maxTokens);
      expect(answer.truncated).toBe(true);
      expect(answer.results.map(({ path }) => path)).toEqual(whole.results.map(({ path }) => path));
    }
    expect(whole.truncated).toBe(false);
  });

  it("says when there is more than the limit", async () => {
    const answer = await ask("cart", { limit: 2 });
    expect(answer.results).toHaveLength(2);
    expect(answer.truncated).toBe(true);
  });

  it("answers any text in bounded work", async () => {
    const hostile = [
      "",
      " \n\t ",
      "the of and",
      "\u0000\u0007\u001b[31m\u202e",
      "\ud800 lone \udc00",
      "'; drop table chunks; --",
      "(a+)+$ [[[ (?: \\",
      '"'.repeat(5_000),
      'path: lang: path:"" lang:',
      "<!--".repeat(20_000),
      "`".repeat(100_000),
      "a/".repeat(50_000),
      "a.".repeat(50_000),
      `File "${"x".repeat(100_000)}`,
      "x".repeat(100_000),
      "_".repeat(100_000),
      `${"=".repeat(50_000)} x`,
      "aA1".repeat(30_000),
      Array.from({ length: 10_000 }, (_, i) => `term${i}`).join(" "),
      Array.from({ length: 10_000 }, (_, i) => `Cart.item${i}(`).join("\n"),
      "\u4e2d\u6587".repeat(20_000),
    ];
    for (const query of hostile) {
      const answer = await ask(query);
      expect(answer.results.length).toBeLessThanOrEqual(10);
      await findSymbols(shop.index, { name: query }, shop.texts);
      await findReferences(shop.index, { name: query }, shop.texts);
    }
  });
});

describe("ranking", () => {
  /** Paths of the answer over these files, best first. */
  async function rank(query: string, texts: Record<string, string>): Promise<string[]> {
    const files = Object.entries(texts).map(([path, text]) => ({ path, text, language: "typescript" }));
    const segment = await segmentOf(buildSegment(files.map((file) => analyzeContent(contentOf(file)))));
    const { results } = await search(await openFiles(files, [segment]), { query }, () =>
      files.map(() => ({ chunks: [], signatures: [] })),
    );
    return results.map(({ path }) => path);
  }

  it("counts a folder's name once, so that an index file does not outrank what it exports", async () => {
    const found = await rank("router", {
      "src/router/index.ts": `export { Router } from "./router.ts";\nexport { Router as default } from "./router.ts";`,
      "src/router/router.ts": `export class Router {\n  add(path: string): void {\n    this.paths.push(path);\n  }\n}`,
      "src/view/page.ts": "export const page = 1;",
    });
    expect(found[0]).toBe("src/router/router.ts");
  });

  it("knows that the entry point is called main", async () => {
    const found = await rank("entry point of the server", {
      "src/main.ts": "listen(8080);",
      "src/listing.ts": "// Every entry has a point on the server's map.\nexport const entries = [];",
      "src/server.ts": "export function listen(port: number): void {}",
    });
    expect(found).toContain("src/main.ts");
  });

  it("does not look for the frame of a question", async () => {
    const files = {
      "src/run.ts": "/** Blocks until an error happens. */\nexport function run(): void {}",
      "src/recover.ts": "/** Turns what a handler throws into an answer. */\nexport function recover(): void {}",
    };
    expect(await rank("what happens when a handler throws", files)).toEqual(["src/recover.ts"]);
    expect(await rank("the error that happens", files)).toContain("src/run.ts");
  });
});

describe("look-ups", () => {
  it("find a definition in its file, however many others have its name", async () => {
    const files = Array.from({ length: 2_500 }, (_, i): TestFile => {
      const symbols = [{ name: "main", startLine: 1, endLine: 1 }];
      return { path: `cmd/${i}/main.go`, language: "go", text: `func main() { run(${i}) }`, symbols };
    });
    const { index, texts } = await open(files);
    for (const { path } of files.slice(-3)) {
      const { symbols, total } = await findSymbols(index, { name: "main", match: "exact", limit: 200, path }, texts);
      expect([symbols.map((own) => own.path), total]).toEqual([[path], 1]);
    }
  });

  it("put a type before enum members and fields of its name", async () => {
    const { index, texts } = await open([
      {
        path: "src/args.rs",
        language: "rust",
        text: "enum Where {\n  Workspace,\n}",
        symbols: [{ name: "Workspace", kind: "enum_member", startLine: 2, endLine: 2 }],
      },
      {
        path: "src/workspace.rs",
        language: "rust",
        text: "pub struct Workspace {}",
        symbols: [{ name: "Workspace", kind: "struct", startLine: 1, endLine: 1 }],
      },
    ]);
    const { symbols } = await findSymbols(index, { name: "Workspace" }, texts);
    expect(symbols.map(({ kind }) => kind)).toEqual(["struct", "enum_member"]);
  });

  it("find symbols by name, qualified name, prefix and letters", async () => {
    const find = async (name: string, match?: "exact" | "prefix" | "fuzzy"): Promise<string[]> =>
      (await findSymbols(shop.index, { name, match }, shop.texts)).symbols.map((s) => `${s.path}:${s.qualifiedName}`);
    expect(await find("Shop::Mailer")).toEqual(["lib/mailer.rb:Shop::Mailer"]);
    expect(await find("Shop.Mailer")).toEqual(["lib/mailer.rb:Shop::Mailer"]);
    expect(await find("mailer")).toEqual(["lib/mailer.rb:Shop::Mailer"]);
    expect((await find("Cart"))[0]).toBe("src/cart/cart.ts:Cart");
    expect(await find("hash_pass")).toEqual(["src/auth/password.py:hash_password"]);
    expect(await find("tokenise", "fuzzy")).toEqual(["src/search/tokenizer.ts:tokenize"]);
    expect(await find("pymtgtwy", "fuzzy")).toEqual(["src/checkout/payment_gateway.ts:PaymentGateway"]);
    expect(await find("password hash", "fuzzy")).toContain("src/auth/password.py:hash_password");
    expect(await find("Cart", "prefix")).toContain("src/cart/cart.ts:CartLine");
    expect(await find("NoSuchThing")).toEqual([]);
    // Modules and packages are in the path only.
    expect(await find("auth.session.SessionStore")).toEqual(["src/auth/session.py:SessionStore"]);
    expect(await find("src::auth::SessionStore::open_session")).toEqual([
      "src/auth/session.py:SessionStore.open_session",
    ]);
    expect(await find("billing.SessionStore", "exact")).toEqual([]);
    // The scope has no such member: one that is near, then the scope.
    const store = "src/auth/session.py:SessionStore";
    expect((await find("SessionStore.open_sesion")).slice(0, 2)).toEqual([`${store}.open_session`, store]);
    expect(await find("SessionStore.total_of_all")).toEqual([]);
    expect(await find("")).toEqual([]);
  });

  it("find misspelt names, also where the wanted one is a prefix of others, and no unrelated ones", async () => {
    const safe = ["timingSafeEqual", "timingSafeEqualString", "notifyObserversOfPeers", "safeTimer"];
    const names = [...safe, "Hono", "getPathNoStrict"];
    const text = names.map((name) => `export function ${name}(): void {}`).join("\n");
    const symbols = names.map((name, i) => ({ name, startLine: i + 1, endLine: i + 1 }));
    const { index, texts } = await open([{ path: "src/safe.ts", text, language: "typescript", symbols }]);
    const find = async (name: string): Promise<[string, ...string[]]> => {
      const { match, symbols: found } = await findSymbols(index, { name }, texts);
      return [match, ...found.map((symbol) => symbol.name)];
    };
    expect(await find("timingSafeEqualS")).toEqual(["fuzzy", "timingSafeEqual", "timingSafeEqualString"]);
    expect(await find("timingSafeEqualSt")).toEqual(["prefix", "timingSafeEqualString"]);
    expect(await find("timingSafeEquals")).toEqual(["fuzzy", "timingSafeEqual", "timingSafeEqualString"]);
    expect(await find("tminigSafeEqual")).toEqual(["fuzzy", "timingSafeEqual"]);
    // Its letters stand in order in a much longer name.
    expect((await find("nope")).slice(1)).toEqual([]);
    // One letter is missing; `getPathNoStrict` has all three in a row.
    expect(await find("Hno")).toEqual(["fuzzy", "Hono", "getPathNoStrict"]);
  });

  it("find references by name, definitions left out, with what encloses them", async () => {
    const { references, truncated } = await findReferences(shop.index, { name: "hash_password" }, shop.texts);
    expect(references).toEqual([
      {
        revision: 0,
        path: "src/auth/password.py",
        line: 7,
        text: "return hash_password(password, salt) == expected",
        enclosing: "verify_password",
      },
    ]);
    expect(truncated).toBe(false);
    const all = await findReferences(shop.index, { name: "cart", limit: 1_000 }, shop.texts);
    const isTest = all.references.map(({ path }) => /(?:^|\/)(?:tests?|docs?|examples?)\/|\.md$|\.test\./.test(path));
    expect(new Set(isTest)).toEqual(new Set([false, true]));
    expect(isTest.lastIndexOf(false)).toBeLessThan(isTest.indexOf(true));
    const limited = await findReferences(shop.index, { name: "cart", limit: 1 }, shop.texts);
    expect(limited.references).toHaveLength(1);
    expect(limited.truncated).toBe(true);
  });

  it("give the outline of a file, and near paths for one that is not there", async () => {
    const outline = await outlineOf(shop.index, 0, "src/auth/session.py", shop.texts);
    expect(outline?.symbols.map(({ qualifiedName, depth }) => `${depth} ${qualifiedName}`)).toEqual([
      "0 SessionStore",
      "1 SessionStore.__init__",
      "1 SessionStore.open_session",
      "1 SessionStore.expire_sessions",
      "0 make_token",
    ]);
    expect(await outlineOf(shop.index, 0, "src/auth/sessions.py", shop.texts)).toBeUndefined();
    expect(nearPaths(shop.index.tables[0]!.paths, "auth/session.ts")).toContain("src/auth/session.py");
  });
});
